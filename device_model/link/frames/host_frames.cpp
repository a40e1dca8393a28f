#include "device_model/link/frames/host_frames.hpp"

#include <cstring>
#include <optional>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

constexpr std::size_t kIp = wire::kEthernetBytes;
constexpr std::size_t kMostIpBytes = 65'535;
constexpr std::size_t kTcpSequence = 4;
constexpr std::size_t kTcpAcknowledgment = 8;
constexpr std::size_t kTcpOffsetAndFlags = 12;
constexpr std::size_t kTcpWindow = 14;
constexpr std::size_t kTcpOptions = 20;
constexpr std::uint16_t kTcpChecksumField = 16;
constexpr std::byte kAck{0x10};
constexpr std::byte kPush{0x08};

// Segments of a stream in the middle of it: ACK alone, and with PSH the last ones.
bool may_join(std::span<const std::byte> frame, const TcpLayout& layout) {
  const std::byte flags = frame[layout.tcp + kTcpOffsetAndFlags + 1];
  const bool is_plain = layout.ipv6 || layout.tcp == kIp + wire::kIpv4Bytes;
  return is_plain && (flags & ~kPush) == kAck && frame.size() > layout.payload;
}

bool pushes(std::span<const std::byte> frame, const TcpLayout& layout) {
  return (frame[layout.tcp + kTcpOffsetAndFlags + 1] & kPush) != std::byte{0};
}

bool same(std::span<const std::byte> one, std::span<const std::byte> other, std::size_t from,
          std::size_t to) {
  return std::memcmp(one.data() + from, other.data() + from, to - from) == 0;
}

// The headers are the same but for lengths, sums, IPv4's identification, the place in the stream and PSH.
bool continues(std::span<const std::byte> last, std::span<const std::byte> next, const TcpLayout& layout) {
  const std::size_t tcp = layout.tcp;
  const bool same_ip = layout.ipv6 ? same(last, next, 0, kIp + 4) && same(last, next, kIp + 6, tcp)
                                   : same(last, next, 0, kIp + 2) && same(last, next, kIp + 6, kIp + 10) &&
                                         same(last, next, kIp + 12, tcp);
  return same_ip && same(last, next, tcp, tcp + kTcpSequence) &&
         same(last, next, tcp + kTcpAcknowledgment, tcp + kTcpOffsetAndFlags + 1) &&
         same(last, next, tcp + kTcpWindow, tcp + kTcpChecksumField) &&
         same(last, next, tcp + kTcpOptions, layout.payload);
}

// A segment that may be joined with others, which the kernel would take: one with a wrong sum passes alone.
std::optional<TcpLayout> joinable_segment(const wire::Frame& frame) {
  if (!frame.payload.empty() || !frame.trailer.empty()) return {};
  const auto layout = tcp_layout(frame.headers);
  if (!layout || !may_join(frame.headers, *layout) || !has_right_checksums(frame.headers, *layout)) return {};
  return layout;
}

std::uint32_t sequence_of(std::span<const std::byte> frame, const TcpLayout& layout) {
  return wire::load_be32(frame.data() + layout.tcp + kTcpSequence);
}

}  // namespace

bool HostFrames::joins_last(std::span<const std::byte> frame, const TcpLayout& layout) {
  if (entries_.empty() || !entries_.back().is_open) return false;
  Entry& last = entries_.back();
  const std::size_t payload = frame.size() - layout.payload;
  if (payload > last.segment_bytes || last.frame_bytes + payload - kIp > kMostIpBytes) return false;
  if (layout.ipv6 != last.layout.ipv6 || layout.payload != last.layout.payload) return false;
  const std::span<std::byte> before = frame_of(last);
  if (sequence_of(frame, layout) != last.next_sequence || !continues(before, frame, layout)) return false;
  const bool is_last = pushes(frame, layout) || payload < last.segment_bytes;
  if (pushes(frame, layout)) before[layout.tcp + kTcpOffsetAndFlags + 1] |= kPush;
  append(frame.subspan(layout.payload));
  last.frame_bytes += payload;
  last.next_sequence += static_cast<std::uint32_t>(payload);
  last.is_joined = true;
  last.is_open = !is_last;
  return true;
}

bool HostFrames::add(const wire::Frame& frame) {
  constexpr TapHeader kNone;
  if (bytes_.size() + sizeof kNone + frame.size() > most_) return false;
  const auto segment = joinable_segment(frame);
  if (segment && joins_last(frame.headers, *segment)) return true;
  Entry& entry = entries_.emplace_back();
  entry.begin = bytes_.size();
  entry.frame_bytes = frame.size();
  if (segment) {
    entry.layout = *segment;
    entry.segment_bytes = frame.size() - segment->payload;
    entry.next_sequence =
        sequence_of(frame.headers, *segment) + static_cast<std::uint32_t>(entry.segment_bytes);
    entry.is_open = !pushes(frame.headers, *segment);
  }
  append(std::as_bytes(std::span(&kNone, 1)));
  for (const auto piece : {frame.headers, frame.payload, frame.trailer}) append(piece);
  return true;
}

void HostFrames::clear() {
  bytes_.clear();
  entries_.clear();
}

// The kernel makes the sum of a joined segment if it ever needs it, as of one that its own TCP has made.
std::span<const std::byte> HostFrames::finish(const Entry& entry) {
  TapHeader header;
  if (entry.is_joined) {
    const std::span<std::byte> frame = frame_of(entry);
    set_ip_length(frame, entry.layout);
    begin_tcp_checksum(frame, entry.layout);
    header.flags = kNeedsChecksum;
    header.gso_type = entry.layout.ipv6 ? kTcpIpv6Segments : kTcpIpv4Segments;
    header.header_bytes = static_cast<std::uint16_t>(entry.layout.payload);
    header.segment_bytes = static_cast<std::uint16_t>(entry.segment_bytes);
    header.checksum_start = static_cast<std::uint16_t>(entry.layout.tcp);
    header.checksum_offset = kTcpChecksumField;
  } else if (entry.segment_bytes != 0) {
    header.flags = kChecksumIsRight;
  }
  std::memcpy(bytes_.data() + entry.begin, &header, sizeof header);
  return {bytes_.data() + entry.begin, sizeof header + entry.frame_bytes};
}

}  // namespace urnic::link
