// Any bytes as a management datagram: decoding reads nothing behind them. A datagram that is accepted means
// the same after it is encoded again, and encoding sets no bit that was not set.
//
// A wrong header would stop nearly every changed datagram, so one of the right size is tried once more with
// the header of each class.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tests/fuzz/require.hpp"
#include "wire/mad/cm_messages.hpp"
#include "wire/mad/ip_cm_header.hpp"
#include "wire/mad/performance.hpp"
#include "wire/mad/rmpp.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"
#include "wire/mad/vendor.hpp"

namespace {

using namespace urnic::wire::mad;
using urnic::fuzz::require;

using Bytes = std::span<const std::byte>;

MadHeader header_of(Bytes mad) {
  MadHeader header;
  require(decode(mad, header) == MadError::none, "an accepted datagram has a wrong header");
  return header;
}

void check_subset(Bytes original, const Mad& again) {
  for (std::size_t at = 0; at < kMadBytes; ++at) {
    require((again[at] & ~original[at]) == std::byte{0}, "encoding sets a bit that was not set");
  }
}

void check_ip_header(Bytes private_data) {
  IpCmHeader header;
  if (decode(private_data, header) != IpCmError::none) return;
  std::vector<std::byte> bytes(kIpCmHeaderBytes);
  encode(header, bytes);
  IpCmHeader again;
  require(decode(bytes, again) == IpCmError::none, "an encoded IP CM header is refused");
  require(header == again, "the IP CM header changed");
}

template <class Message>
void check_parts(const Message& message) {
  if constexpr (requires { message.information; }) {
    const Bytes all = message.information.bytes;
    const Bytes used = message.information.used();
    require(used.data() == all.data() && used.size() <= all.size(), "information beyond its bytes");
  }
  check_ip_header(message.private_data);
}

template <class Message>
void check_cm_round_trip(Bytes mad, const Message& message) {
  check_parts(message);
  Message alone;
  require(decode(mad, alone) == MadError::none, "refused as the message that it was taken for");
  require(alone == message, "the two decoders differ");
  Mad again = encode(message, header_of(mad).transaction);
  Message decoded;
  require(decode(again, decoded) == MadError::none, "an encoded message is refused");
  require(decoded == message, "the message changed");
  check_subset(mad, again);
}

void check_cm(Bytes mad) {
  CmMessage message;
  if (decode(mad, message) != MadError::none) return;
  std::visit([&](const auto& alternative) { check_cm_round_trip(mad, alternative); }, message);
}

template <class Attribute>
void check_performance(Bytes mad) {
  Attribute attribute;
  if (decode(mad, attribute) != MadError::none) return;
  const Mad again = encode(attribute, header_of(mad));
  Attribute decoded;
  require(decode(again, decoded) == MadError::none, "an encoded attribute is refused");
  require(decoded == attribute, "the attribute changed");
  check_subset(mad, again);
}

void check_vendor(Bytes mad) {
  VendorMad vendor;
  if (decode(mad, vendor) != MadError::none) return;
  const Mad again = encode(vendor);
  VendorMad decoded;
  require(decode(again, decoded) == MadError::none, "an encoded vendor datagram is refused");
  require(decoded == vendor, "the vendor datagram changed");
  check_subset(mad, again);
}

// Every bit of the RMPP header is a field's.
void check_rmpp(Bytes mad) {
  RmppHeader header;
  if (decode(mad, header) != MadError::none) return;
  Mad again{};
  std::copy(mad.begin(), mad.end(), again.begin());
  encode(header, again);
  require(std::equal(mad.begin(), mad.end(), again.begin()), "the RMPP header changed");
}

template <class Attribute>
void check_subnet_attribute(const SmpData& data) {
  const auto attribute = decode_data<Attribute>(data);
  const SmpData again = encode_data(attribute);
  require(decode_data<Attribute>(again) == attribute, "the attribute of subnet management changed");
  for (std::size_t at = 0; at < data.size(); ++at)
    require((again[at] & ~data[at]) == std::byte{0}, "encoding an attribute sets a bit that was not set");
}

void check_smp(Bytes mad) {
  Smp smp;
  if (decode(mad, smp) != MadError::none) return;
  const Mad again = encode(smp);
  Smp decoded;
  require(decode(again, decoded) == MadError::none, "an encoded SMP is refused");
  require(decoded == smp, "the SMP changed");
  check_subset(mad, again);
  check_subnet_attribute<NodeInfo>(smp.data);
  check_subnet_attribute<SwitchInfo>(smp.data);
  check_subnet_attribute<PortInfo>(smp.data);
  check_subnet_attribute<SmInfo>(smp.data);
  check_subnet_attribute<Notice>(smp.data);
}

void check_all(Bytes mad) {
  check_cm(mad);
  check_performance<ClassPortInfo>(mad);
  check_performance<PortCounters>(mad);
  check_performance<PortCountersExtended>(mad);
  check_vendor(mad);
  check_rmpp(mad);
  check_smp(mad);
}

// `mad` with a header of the class, and with one of the class' `attributes` that its own attribute chooses.
std::vector<std::byte> repaired(Bytes mad, ManagementClass management_class, std::uint8_t version,
                                Method method, std::span<const std::uint16_t> attributes) {
  std::vector<std::byte> bytes(mad.begin(), mad.end());
  bytes[0] = std::byte{kBaseVersion};
  bytes[1] = static_cast<std::byte>(management_class);
  bytes[2] = std::byte{version};
  bytes[3] = static_cast<std::byte>(method);
  const std::uint16_t attribute = attributes[std::to_integer<std::size_t>(mad[17]) % attributes.size()];
  bytes[16] = static_cast<std::byte>(attribute >> 8);
  bytes[17] = static_cast<std::byte>(attribute);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes input = std::as_bytes(std::span(data, size));
  // In memory of exactly this length, so that the sanitizer sees a read behind it.
  const std::vector<std::byte> mad(input.begin(), input.end());
  check_all(mad);
  check_ip_header(mad);
  if (mad.size() != kMadBytes) {
    MadHeader header;
    require(decode(mad, header) == MadError::wrong_size, "a datagram of another size is accepted");
    return 0;
  }
  static constexpr std::uint16_t kCm[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1A};
  static constexpr std::uint16_t kPerformance[] = {0x01, 0x12, 0x1D};
  static constexpr std::uint16_t kPing[] = {0};
  static constexpr std::uint16_t kSubnet[] = {0x11, 0x15};
  check_all(repaired(mad, ManagementClass::communication, kCmClassVersion, Method::send, kCm));
  check_all(repaired(mad, ManagementClass::performance, kPerformanceClassVersion, Method::get, kPerformance));
  check_all(repaired(mad, ManagementClass::openib_ping, 1, Method::get, kPing));
  for (const auto subnet : {ManagementClass::subnet_lid_routed, ManagementClass::subnet_directed_route})
    check_all(repaired(mad, subnet, kSubnetClassVersion, Method::set, kSubnet));
  return 0;
}
