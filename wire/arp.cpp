#include "wire/arp.hpp"

#include <cstring>

#include "wire/ethernet.hpp"
#include "wire/ipv4_mapped.hpp"
#include "wire/network_codec.hpp"

namespace urnic::wire {
namespace {

constexpr std::size_t kOperation = kEthernetBytes + 6;
constexpr std::size_t kSenderMac = kEthernetBytes + 8;
constexpr std::size_t kSender = kSenderMac + kMacBytes;
constexpr std::size_t kTargetMac = kSender + kIpv4AddressBytes;
constexpr std::size_t kTargetIp = kTargetMac + kMacBytes;
static_assert(kTargetIp + kIpv4AddressBytes == kArpFrameBytes);

// Hardware type Ethernet, protocol IPv4, address lengths 6 and 4.
constexpr std::array<std::uint8_t, 6> kEthernetAndIpv4{0, 1, 0x08, 0x00, 6, 4};

}  // namespace

ArpFrame encode_arp(const Arp& arp, const MacAddress& destination) {
  ArpFrame frame{};
  store_ethernet(frame.data(), destination, arp.sender_mac, ether_type::kArp);
  std::memcpy(frame.data() + kEthernetBytes, kEthernetAndIpv4.data(), kEthernetAndIpv4.size());
  store_be16(frame.data() + kOperation, static_cast<std::uint16_t>(arp.operation));
  store_mac(frame.data() + kSenderMac, arp.sender_mac);
  store_ipv4(frame.data() + kSender, arp.sender);
  store_mac(frame.data() + kTargetMac, arp.target_mac);
  store_ipv4(frame.data() + kTargetIp, arp.target);
  return frame;
}

std::optional<Arp> parse_arp(std::span<const std::byte> frame) {
  if (frame.size() < kArpFrameBytes) return {};
  if (load_be16(frame.data() + kEtherTypeOffset) != ether_type::kArp) return {};
  if (std::memcmp(frame.data() + kEthernetBytes, kEthernetAndIpv4.data(), kEthernetAndIpv4.size()) != 0)
    return {};
  const auto operation = static_cast<ArpOperation>(load_be16(frame.data() + kOperation));
  if (operation != ArpOperation::request && operation != ArpOperation::reply) return {};
  Arp arp{.operation = operation,
          .sender_mac = load_mac(frame.data() + kSenderMac),
          .sender = {},
          .target_mac = load_mac(frame.data() + kTargetMac),
          .target = {}};
  load_ipv4(frame.data() + kSender, arp.sender);
  load_ipv4(frame.data() + kTargetIp, arp.target);
  return arp;
}

}  // namespace urnic::wire
