#include "wire/mad/rmpp.hpp"

#include <algorithm>

#include "wire/mad/fields.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::wire::mad {

// IBTA 13.6.2.1; bytes count from the MAD's beginning.
template <class Visitor, Either<RmppHeader> Message>
constexpr void visit_fields(Visitor& field, Message& header) {
  field(bits(24, 8), header.version);
  field(bits(25, 8), header.type);
  field(bits(26, 0, 5), header.response_time);
  field(bits(26, 5, 1), header.last);
  field(bits(26, 6, 1), header.first);
  field(bits(26, 7, 1), header.active);
  field(bits(27, 8), header.status);
  field(bits(28, 32), header.segment);
  field(bits(32, 32), header.length_or_window);
}
static_assert(is_sound<RmppHeader, kMadHeaderBytes + kRmppHeaderBytes>());

namespace {

constexpr std::uint8_t kSubnetAdministration = 0x03;
constexpr std::uint8_t kDeviceManagement = 0x06;
constexpr std::uint8_t kDeviceAdministration = 0x10;
constexpr std::uint8_t kBis = 0x12;
constexpr std::size_t kVendorDataOffset = 40;
constexpr std::size_t kSubnetAdministrationDataOffset = 56;
constexpr std::size_t kDeviceDataOffset = 64;

}  // namespace

bool has_rmpp(ManagementClass management_class) { return data_offset(management_class) != kMadHeaderBytes; }

std::size_t data_offset(ManagementClass management_class) {
  const auto number = static_cast<std::uint8_t>(management_class);
  if (number == kSubnetAdministration) return kSubnetAdministrationDataOffset;
  if (number == kDeviceManagement || number == kDeviceAdministration || number == kBis)
    return kDeviceDataOffset;
  return has_oui(management_class) ? kVendorDataOffset : kMadHeaderBytes;
}

MadError decode(std::span<const std::byte> mad, RmppHeader& header) {
  if (mad.size() != kMadBytes) return MadError::wrong_size;
  FieldReader reader(mad);
  visit_fields(reader, header);
  return MadError::none;
}

void encode(const RmppHeader& header, Mad& mad) {
  std::fill_n(mad.begin() + kMadHeaderBytes, kRmppHeaderBytes, std::byte{0});
  FieldWriter writer(mad);
  visit_fields(writer, header);
}

}  // namespace urnic::wire::mad
