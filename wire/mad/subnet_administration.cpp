#include "wire/mad/subnet_administration.hpp"

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {
namespace {

// IBTA 15.2.1.1: behind the headers of all datagrams and of RMPP.
constexpr std::size_t kComponentMaskOffset = 48;
constexpr std::size_t kRecordOffset = 56;
constexpr std::size_t kRecordBytes = kMadBytes - kRecordOffset;

struct Components {
  ComponentMask mask = 0;
};

template <class Visitor, Either<Components> Message>
constexpr void visit_fields(Visitor& field, Message& components) {
  field(bits(kComponentMaskOffset, 64), components.mask);
}

}  // namespace

// IBTA 15.2.5.16
template <class Visitor, Either<PathRecord> Message>
constexpr void visit_fields(Visitor& field, Message& record) {
  field(bits(0, 64), record.service);
  field(bits(8, 128), record.destination);
  field(bits(24, 128), record.source);
  field(bits(40, 16), record.destination_lid);
  field(bits(42, 16), record.source_lid);
  field(bits(44, 1), record.is_raw);
  field(bits(44, 4, 20), record.flow_label);
  field(bits(47, 8), record.hop_limit);
  field(bits(48, 8), record.traffic_class);
  field(bits(49, 1), record.is_reversible);
  field(bits(49, 1, 7), record.paths);
  field(bits(50, 16), record.pkey);
  field(bits(52, 12), record.quality_class);
  field(bits(53, 4, 4), record.service_level);
  field(bits(54, 2), record.mtu_selector);
  field(bits(54, 2, 6), record.mtu);
  field(bits(55, 2), record.rate_selector);
  field(bits(55, 2, 6), record.rate);
  field(bits(56, 2), record.packet_lifetime_selector);
  field(bits(56, 2, 6), record.packet_lifetime);
  field(bits(57, 8), record.preference);
}
static_assert(is_sound<PathRecord, kPathRecordBytes>());

// IBTA 15.2.5.17
template <class Visitor, Either<MulticastMemberRecord> Message>
constexpr void visit_fields(Visitor& field, Message& record) {
  field(bits(0, 128), record.group);
  field(bits(16, 128), record.port);
  field(bits(32, 32), record.qkey);
  field(bits(36, 16), record.group_lid);
  field(bits(38, 2), record.mtu_selector);
  field(bits(38, 2, 6), record.mtu);
  field(bits(39, 8), record.traffic_class);
  field(bits(40, 16), record.pkey);
  field(bits(42, 2), record.rate_selector);
  field(bits(42, 2, 6), record.rate);
  field(bits(43, 2), record.packet_lifetime_selector);
  field(bits(43, 2, 6), record.packet_lifetime);
  field(bits(44, 4), record.service_level);
  field(bits(44, 4, 20), record.flow_label);
  field(bits(47, 8), record.hop_limit);
  field(bits(48, 4), record.scope);
  field(bits(48, 4, 4), record.join_state);
  field(bits(49, 1), record.joins_for_other);
}

template <AdministrationRecord Record>
Mad encode_request(const MadHeader& header, ComponentMask components, const Record& record) {
  static_assert(is_sound<Record, kRecordBytes>());
  Mad mad{};
  encode(MadHeader{.management_class = ManagementClass::subnet_administration,
                   .class_version = kAdministrationClassVersion,
                   .method = header.method,
                   .transaction = header.transaction,
                   .attribute = {static_cast<std::uint16_t>(Record::kAttribute)}},
         mad);
  FieldWriter writer(mad);
  const Components mask{components};
  visit_fields(writer, mask);
  FieldWriter record_writer(std::span<std::byte>(mad).subspan(kRecordOffset));
  visit_fields(record_writer, record);
  return mad;
}

template <AdministrationRecord Record>
Record decode_record(const Mad& mad) {
  Record record;
  FieldReader reader(std::span<const std::byte>(mad).subspan(kRecordOffset));
  visit_fields(reader, record);
  return record;
}

std::array<std::byte, kPathRecordBytes> encode_path(const PathRecord& record) {
  std::array<std::byte, kPathRecordBytes> bytes{};
  FieldWriter writer(bytes);
  visit_fields(writer, record);
  return bytes;
}

PathRecord decode_path(std::span<const std::byte, kPathRecordBytes> bytes) {
  PathRecord record;
  FieldReader reader(bytes);
  visit_fields(reader, record);
  return record;
}

template Mad encode_request(const MadHeader&, ComponentMask, const PathRecord&);
template Mad encode_request(const MadHeader&, ComponentMask, const MulticastMemberRecord&);
template PathRecord decode_record(const Mad&);
template MulticastMemberRecord decode_record(const Mad&);

}  // namespace urnic::wire::mad
