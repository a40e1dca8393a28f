#include "wire/mad/performance.hpp"

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {
namespace {

// Attributes begin here; the bytes after the MAD header are reserved (IBTA 16.1.1).
constexpr std::size_t kDataOffset = 64;
constexpr std::size_t kDataBytes = kMadBytes - kDataOffset;

}  // namespace

// IBTA 13.4.8.1; only the trap address has a hop limit.
template <class Visitor, Either<ClassPortInfo> Message>
constexpr void visit_fields(Visitor& field, Message& info) {
  field(bits(0, 8), info.base_version);
  field(bits(1, 8), info.class_version);
  field(bits(2, 16), info.capability_mask);
  field(bits(4, 27), info.capability_mask2);
  field(bits(7, 3, 5), info.response_time);
  field(bits(8, 128), info.redirect.gid);
  field(bits(24, 8), info.redirect.traffic_class);
  field(bits(25, 4), info.redirect.service_level);
  field(bits(25, 4, 20), info.redirect.flow_label);
  field(bits(28, 16), info.redirect.lid);
  field(bits(30, 16), info.redirect.pkey);
  field(bits(33, 24), info.redirect.qpn);
  field(bits(36, 32), info.redirect.qkey);
  field(bits(40, 128), info.trap.gid);
  field(bits(56, 8), info.trap.traffic_class);
  field(bits(57, 4), info.trap.service_level);
  field(bits(57, 4, 20), info.trap.flow_label);
  field(bits(60, 16), info.trap.lid);
  field(bits(62, 16), info.trap.pkey);
  field(bits(64, 8), info.trap.hop_limit);
  field(bits(65, 24), info.trap.qpn);
  field(bits(68, 32), info.trap.qkey);
}

template <class Visitor, Either<PortCounters> Message>
constexpr void visit_fields(Visitor& field, Message& counters) {
  field(bits(1, 8), counters.port_select);
  field(bits(2, 16), counters.counter_select);
  field(bits(4, 16), counters.symbol_errors);
  field(bits(6, 8), counters.link_error_recoveries);
  field(bits(7, 8), counters.link_downed);
  field(bits(8, 16), counters.receive_errors);
  field(bits(10, 16), counters.receive_remote_physical_errors);
  field(bits(12, 16), counters.receive_switch_relay_errors);
  field(bits(14, 16), counters.transmit_discards);
  field(bits(16, 8), counters.transmit_constraint_errors);
  field(bits(17, 8), counters.receive_constraint_errors);
  field(bits(18, 8), counters.counter_select2);
  field(bits(19, 4), counters.local_link_integrity_errors);
  field(bits(19, 4, 4), counters.excessive_buffer_overrun_errors);
  field(bits(20, 16), counters.qp1_dropped);
  field(bits(22, 16), counters.vl15_dropped);
  field(bits(24, 32), counters.transmit_data);
  field(bits(28, 32), counters.receive_data);
  field(bits(32, 32), counters.transmit_packets);
  field(bits(36, 32), counters.receive_packets);
  field(bits(40, 32), counters.transmit_wait);
}

template <class Visitor, Either<PortCountersExtended> Message>
constexpr void visit_fields(Visitor& field, Message& counters) {
  field(bits(1, 8), counters.port_select);
  field(bits(2, 16), counters.counter_select);
  field(bits(8, 64), counters.transmit_data);
  field(bits(16, 64), counters.receive_data);
  field(bits(24, 64), counters.transmit_packets);
  field(bits(32, 64), counters.receive_packets);
  field(bits(40, 64), counters.unicast_transmit_packets);
  field(bits(48, 64), counters.unicast_receive_packets);
  field(bits(56, 64), counters.multicast_transmit_packets);
  field(bits(64, 64), counters.multicast_receive_packets);
}

namespace {

MadError check_header(const MadHeader& header, PerformanceAttribute attribute) {
  if (header.management_class != ManagementClass::performance) return MadError::wrong_class;
  if (header.class_version != kPerformanceClassVersion) return MadError::wrong_class_version;
  const bool known =
      header.method == Method::get || header.method == Method::set || header.method == Method::get_response;
  if (!known) return MadError::wrong_method;
  if (header.attribute.value != static_cast<std::uint16_t>(attribute)) return MadError::wrong_attribute;
  return MadError::none;
}

}  // namespace

template <PerformanceAttributeType Attribute>
MadError decode(std::span<const std::byte> mad, Attribute& attribute) {
  static_assert(is_sound<Attribute, kDataBytes>());
  MadHeader header;
  MadError error = decode(mad, header);
  if (error == MadError::none) error = check_header(header, Attribute::kAttribute);
  if (error != MadError::none) return error;
  FieldReader reader(mad.subspan(kDataOffset));
  visit_fields(reader, attribute);
  return MadError::none;
}

template <PerformanceAttributeType Attribute>
Mad encode(const Attribute& attribute, const MadHeader& header) {
  MadHeader own = header;
  own.base_version = kBaseVersion;
  own.management_class = ManagementClass::performance;
  own.class_version = kPerformanceClassVersion;
  own.attribute = {static_cast<std::uint16_t>(Attribute::kAttribute)};
  Mad mad{};
  encode(own, mad);
  FieldWriter writer(std::span<std::byte>(mad).subspan(kDataOffset));
  visit_fields(writer, attribute);
  return mad;
}

template MadError decode(std::span<const std::byte>, ClassPortInfo&);
template MadError decode(std::span<const std::byte>, PortCounters&);
template MadError decode(std::span<const std::byte>, PortCountersExtended&);
template Mad encode(const ClassPortInfo&, const MadHeader&);
template Mad encode(const PortCounters&, const MadHeader&);
template Mad encode(const PortCountersExtended&, const MadHeader&);

}  // namespace urnic::wire::mad
