#include "wire/mad/smp.hpp"

#include "wire/mad/fields.hpp"

namespace urnic::wire::mad {
namespace {

constexpr std::size_t kDirectedStart = 4;
constexpr std::uint16_t kReturningBit = 0x8000;

// What lies behind the header of all datagrams and is the same in both classes.
template <class Visitor, Either<Smp> Message>
constexpr void visit_common(Visitor& field, Message& smp) {
  field(bits(24, 64), smp.m_key);
  field(bits(kSmpDataOffset, kSmpDataBytes * 8), smp.data);
}

// The status and the class-specific bytes of the common header have another meaning here.
template <class Visitor, Either<Smp> Message>
constexpr void visit_directed(Visitor& field, Message& smp) {
  field(bits(kDirectedStart, 0, 1), smp.is_returning);
  field(bits(6, 8), smp.hop_pointer);
  field(bits(7, 8), smp.hop_count);
  field(bits(32, 16), smp.directed_source);
  field(bits(34, 16), smp.directed_destination);
  field(bits(128, kPathPlaces * 8), smp.initial_path);
  field(bits(192, kPathPlaces * 8), smp.return_path);
}

}  // namespace

template <class Visitor, Either<Smp> Message>
constexpr void visit_fields(Visitor& field, Message& smp) {
  visit_common(field, smp);
  visit_directed(field, smp);
}
static_assert(is_sound<Smp, kMadBytes>());

namespace {

MadStatus without_direction(MadStatus status) {
  return static_cast<MadStatus>(static_cast<std::uint16_t>(status) & ~kReturningBit);
}

}  // namespace

MadError decode(std::span<const std::byte> mad, Smp& smp) {
  MadHeader header;
  if (const MadError error = decode(mad, header); error != MadError::none) return error;
  const bool directed = header.management_class == ManagementClass::subnet_directed_route;
  if (!directed && header.management_class != ManagementClass::subnet_lid_routed)
    return MadError::wrong_class;
  if (header.class_version != kSubnetClassVersion) return MadError::wrong_class_version;
  smp.header = header;
  const FieldReader reader(mad);
  visit_common(reader, smp);
  if (!directed) return MadError::none;
  visit_directed(reader, smp);
  smp.header.status = without_direction(header.status);
  smp.header.class_specific = 0;
  return MadError::none;
}

Mad encode(const Smp& smp) {
  Mad mad{};
  encode(smp.header, mad);
  const FieldWriter writer(mad);
  visit_common(writer, smp);
  if (smp.is_directed()) visit_directed(writer, smp);
  return mad;
}

}  // namespace urnic::wire::mad
