#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstdio>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/control/fabric/configuration.hpp"

namespace urnic::control {

std::array<std::uint8_t, 8> modified_eui64(const wire::MacAddress& mac) {
  const auto& m = mac.bytes;
  return {static_cast<std::uint8_t>(m[0] ^ 0x02), m[1], m[2], 0xFF, 0xFE, m[3], m[4], m[5]};
}

std::array<std::uint8_t, 8> node_guid_of(const DeviceSettings& device) {
  if (!device.node_guid) return modified_eui64(device.mac);
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>(device.node_guid->value >> (56 - 8 * i));
  return bytes;
}

std::optional<wire::MacAddress> parse_mac(const std::string& text) {
  wire::MacAddress mac;
  auto& m = mac.bytes;
  char rest = 0;
  const int count = std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%c", &m[0], &m[1], &m[2],
                                &m[3], &m[4], &m[5], &rest);
  // Six pairs of digits and five colons: sscanf alone accepts shorter numbers and spaces.
  if (count != 6 || text.size() != 17 || text.find_first_of(" +-xX") != std::string::npos) return {};
  return mac;
}

std::optional<wire::Gid> parse_gid(const std::string& text) {
  wire::Gid gid;
  if (inet_pton(AF_INET6, text.c_str(), gid.bytes.data()) != 1) return {};
  return gid;
}

std::optional<wire::Gid> parse_ip_address(const std::string& text) {
  return text.find(':') == std::string::npos ? parse_gid("::ffff:" + text) : parse_gid(text);
}

std::string to_text(const wire::MacAddress& mac) {
  const auto& m = mac.bytes;
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", m[0], m[1], m[2], m[3], m[4], m[5]);
}

std::string to_text(const PciAddress& address) {
  return fmt::format("{}:{:02x}.{:x}", abi::kPciBus, address.slot, address.function);
}

std::string to_text(const wire::Gid& gid) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, gid.bytes.data(), text, sizeof text);
  return text;
}

}  // namespace urnic::control
