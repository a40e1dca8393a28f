#include "analysis/capture_files/capture_format.hpp"

#include <cstring>
#include <utility>

#include "analysis/capture_files/link_frame.hpp"
#include "wire/byte_order.hpp"

namespace urnic::analysis {
namespace {

// A file's interfaces are an attacker's to number; urnic's own captures have three for each device.
constexpr std::size_t kMostInterfaces = 65536;

CapturePoint point_named(std::string_view name) {
  if (name == "before") return CapturePoint::before;
  if (name == "after") return CapturePoint::after;
  if (name == "dropped") return CapturePoint::dropped;
  return CapturePoint::unknown;
}

}  // namespace

std::uint16_t ByteOrder::u16(std::span<const std::byte> bytes, std::size_t at) const {
  if (big_endian_) return wire::load_be16(&bytes[at]);
  std::uint16_t value;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

std::uint32_t ByteOrder::u32(std::span<const std::byte> bytes, std::size_t at) const {
  if (big_endian_) return wire::load_be32(&bytes[at]);
  std::uint32_t value;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

CaptureInterface named_interface(std::string name, std::string description, LinkType link) {
  CaptureInterface interface {
    .name = std::move(name), .description = std::move(description), .link = link, .device = {}
  };
  const std::size_t slash = interface.name.rfind('/');
  if (slash == std::string::npos) return interface;
  interface.point = point_named(std::string_view(interface.name).substr(slash + 1));
  if (interface.point != CapturePoint::unknown) interface.device = interface.name.substr(0, slash);
  return interface;
}

void CaptureFormat::add_interface(CaptureInterface interface) {
  if (interfaces_.size() == kMostInterfaces)
    throw CaptureError("more than " + std::to_string(kMostInterfaces) + " interfaces");
  interfaces_.push_back(
      named_interface(std::move(interface.name), std::move(interface.description), interface.link));
}

void CaptureFormat::set_bytes(CapturedPacket& packet, std::span<const std::byte> bytes,
                              std::uint32_t original) {
  set_frame(packet, interfaces_[packet.interface].link, bytes, original, frame_);
}

}  // namespace urnic::analysis
