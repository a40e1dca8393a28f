#include "analysis/capture_files/ethernet_frame.hpp"

#include <cstdint>

#include "wire/byte_order.hpp"
#include "wire/ethernet.hpp"
#include "wire/network_codec.hpp"

namespace urnic::analysis {
namespace {

// How a link's header is laid out. The protocol is an EtherType; without one, the IP version tells it.
struct LinkHeader {
  std::size_t bytes = 0;
  std::optional<std::size_t> protocol;
  std::optional<std::size_t> address;         // the sender's, in eight bytes
  std::optional<std::size_t> address_length;  // the position of the address' length
  std::size_t address_length_bytes = 0;
};

// linktype-linux-sll, linktype-linux-sll2 of the tcpdump group.
LinkHeader header_of(LinkType type) {
  switch (type) {
    case LinkType::linux_cooked:
      return {16, 14, 6, 4, 2};
    case LinkType::linux_cooked2:
      return {20, 0, 12, 11, 1};
    case LinkType::ethernet:
    case LinkType::raw_ip:
    case LinkType::ipv4:
    case LinkType::ipv6:
    case LinkType::erf:
    case LinkType::infiniband:
      return {};
  }
  return {};
}

std::uint16_t protocol_of(const LinkHeader& header, std::span<const std::byte> packet) {
  if (header.protocol) return wire::load_be16(&packet[*header.protocol]);
  const unsigned version = std::to_integer<unsigned>(packet[header.bytes]) >> 4;
  return version == 6 ? wire::ether_type::kIpv6 : wire::ether_type::kIpv4;
}

wire::MacAddress sender_of(const LinkHeader& header, std::span<const std::byte> packet) {
  if (!header.address) return {};
  const std::size_t length = header.address_length_bytes == 2
                                 ? wire::load_be16(&packet[*header.address_length])
                                 : std::to_integer<std::size_t>(packet[*header.address_length]);
  return length == wire::kMacBytes ? wire::load_mac(&packet[*header.address]) : wire::MacAddress{};
}

}  // namespace

bool is_supported(LinkType type) {
  switch (type) {
    case LinkType::ethernet:
    case LinkType::raw_ip:
    case LinkType::linux_cooked:
    case LinkType::ipv4:
    case LinkType::ipv6:
    case LinkType::linux_cooked2:
    case LinkType::erf:
    case LinkType::infiniband:
      return true;
  }
  return false;
}

int frame_growth(LinkType type) {
  if (type == LinkType::ethernet) return 0;
  return static_cast<int>(wire::kEthernetBytes) - static_cast<int>(header_of(type).bytes);
}

std::optional<std::span<const std::byte>> ethernet_frame(LinkType type, std::span<const std::byte> packet,
                                                         std::vector<std::byte>& storage) {
  if (type == LinkType::ethernet) return packet;
  const LinkHeader header = header_of(type);
  if (packet.size() <= header.bytes) return std::nullopt;
  const auto contents = packet.subspan(header.bytes);
  storage.resize(wire::kEthernetBytes);
  wire::store_ethernet(storage.data(), {}, sender_of(header, packet), protocol_of(header, packet));
  storage.insert(storage.end(), contents.begin(), contents.end());
  return storage;
}

}  // namespace urnic::analysis
