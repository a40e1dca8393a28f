#include "device_model/link/frames/tcp_segmenter.hpp"

#include <algorithm>
#include <cstring>

#include "wire/byte_order.hpp"

namespace urnic::link {
namespace {

// Flags in the fourteenth byte of the header (RFC 9293 3.1).
constexpr std::byte kFinAndPush{0x09};
constexpr std::byte kCongestionWindowReduced{0x80};

}  // namespace

bool TcpSegmenter::begin(std::span<const std::byte> whole, std::size_t payload_bytes,
                         std::size_t most_bytes) {
  const auto layout = tcp_layout(whole);
  if (!layout || payload_bytes == 0 || layout->payload + payload_bytes > most_bytes) return false;
  whole_ = whole;
  layout_ = *layout;
  payload_bytes_ = payload_bytes;
  at_ = layout_.payload;
  parts_ = 0;
  return !is_done();
}

// Each part is a packet of its own: with the next identification (RFC 6864 lets it be anything where Don't
// Fragment is set), its place in the stream, FIN and PSH in the last one, and what tells of a smaller window
// in the first one (RFC 3168 6.1.2).
std::size_t TcpSegmenter::next(std::byte* to) {
  const std::size_t taken = std::min(payload_bytes_, whole_.size() - at_);
  std::memcpy(to, whole_.data(), layout_.payload);
  std::memcpy(to + layout_.payload, whole_.data() + at_, taken);
  const auto before = static_cast<std::uint32_t>(at_ - layout_.payload);
  at_ += taken;

  std::byte* const tcp = to + layout_.tcp;
  wire::store_be32(tcp + 4, wire::load_be32(tcp + 4) + before);
  if (!is_done()) tcp[13] &= ~kFinAndPush;
  if (parts_ != 0) tcp[13] &= ~kCongestionWindowReduced;
  if (!layout_.ipv6) {
    std::byte* const identification = to + layout_.ip + 4;
    wire::store_be16(identification, static_cast<std::uint16_t>(wire::load_be16(identification) + parts_));
  }
  ++parts_;
  const std::span<std::byte> frame(to, layout_.payload + taken);
  set_ip_length(frame, layout_, frame.size());
  set_tcp_checksum(frame, layout_);
  return frame.size();
}

}  // namespace urnic::link
