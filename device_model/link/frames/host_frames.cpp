#include "device_model/link/frames/host_frames.hpp"

#include <cstring>
#include <optional>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

constexpr std::size_t kMostIpBytes = 65'535;
constexpr std::size_t kMostPieces = 256;  // of a write; the kernel takes 1,024
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
  const bool is_plain = layout.ipv6 || layout.tcp == layout.ip + wire::kIpv4Bytes;
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
  const std::size_t ip = layout.ip;
  const std::size_t tcp = layout.tcp;
  const bool same_ip = layout.ipv6 ? same(last, next, 0, ip + 4) && same(last, next, ip + 6, tcp)
                                   : same(last, next, 0, ip + 2) && same(last, next, ip + 6, ip + 10) &&
                                         same(last, next, ip + 12, tcp);
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

// Of a round's usual number of frames.
HostFrames::HostFrames(std::size_t most_bytes) : most_(most_bytes) {
  constexpr std::size_t kFrames = 512;
  constexpr std::size_t kHeadBytes = 128;
  heads_.reserve(kFrames * kHeadBytes);
  pieces_.reserve(2 * kFrames);
  entries_.reserve(kFrames);
}

void HostFrames::begin_entry(std::size_t frame_bytes) {
  Entry& entry = entries_.emplace_back();
  entry.head = heads_.size();
  entry.first_piece = pieces_.size();
  entry.frame_bytes = frame_bytes;
  pieces_.emplace_back();
  constexpr TapHeader kNone;
  append_to_head(std::as_bytes(std::span(&kNone, 1)));
}

void HostFrames::append_to_head(std::span<const std::byte> bytes) {
  heads_.insert(heads_.end(), bytes.begin(), bytes.end());
  entries_.back().head_bytes += bytes.size();
}

void HostFrames::refer_to(std::span<const std::byte> bytes) {
  pieces_.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});
  ++entries_.back().pieces;
}

bool HostFrames::joins_last(std::span<const std::byte> frame, const TcpLayout& layout) {
  if (entries_.empty() || !entries_.back().is_open) return false;
  Entry& last = entries_.back();
  const std::size_t payload = frame.size() - layout.payload;
  if (payload > last.segment_bytes || last.frame_bytes + payload - layout.ip > kMostIpBytes) return false;
  if (layout.ip != last.layout.ip || layout.ipv6 != last.layout.ipv6 || layout.payload != last.layout.payload)
    return false;
  const std::span<std::byte> before = headers_of(last);
  if (sequence_of(frame, layout) != last.next_sequence || !continues(before, frame, layout)) return false;
  const bool is_last = pushes(frame, layout) || payload < last.segment_bytes || last.pieces == kMostPieces;
  if (pushes(frame, layout)) before[layout.tcp + kTcpOffsetAndFlags + 1] |= kPush;
  refer_to(frame.subspan(layout.payload));
  last.frame_bytes += payload;
  last.next_sequence += static_cast<std::uint32_t>(payload);
  last.is_open = !is_last;
  return true;
}

bool HostFrames::add(const wire::Frame& frame) {
  if (waiting_bytes_ + frame.size() > most_) return false;
  waiting_bytes_ += frame.size();
  const auto segment = joinable_segment(frame);
  if (segment && joins_last(frame.headers, *segment)) return true;
  begin_entry(frame.size());
  if (segment) {
    Entry& entry = entries_.back();
    entry.layout = *segment;
    entry.segment_bytes = frame.size() - segment->payload;
    entry.next_sequence =
        sequence_of(frame.headers, *segment) + static_cast<std::uint32_t>(entry.segment_bytes);
    entry.is_open = !pushes(frame.headers, *segment);
    append_to_head(frame.headers.first(segment->payload));
    refer_to(frame.headers.subspan(segment->payload));
  } else if (frame.payload.empty() && frame.trailer.empty()) {
    refer_to(frame.headers);
  } else {
    for (const auto piece : {frame.headers, frame.payload, frame.trailer}) append_to_head(piece);
  }
  return true;
}

void HostFrames::clear() {
  waiting_bytes_ = 0;
  heads_.clear();
  pieces_.clear();
  entries_.clear();
}

// The kernel makes the sum of a joined segment if it ever needs it, as of one that its own TCP has made.
std::span<const iovec> HostFrames::finish(const Entry& entry) {
  TapHeader header;
  constexpr std::size_t kOfOneSegment = 2;  // the headers and the payload
  if (entry.pieces > kOfOneSegment) {
    const std::span<std::byte> headers = headers_of(entry);
    set_ip_length(headers, entry.layout, entry.frame_bytes);
    begin_tcp_checksum(headers, entry.layout, entry.frame_bytes);
    header.flags = kNeedsChecksum;
    header.gso_type = entry.layout.ipv6 ? kTcpIpv6Segments : kTcpIpv4Segments;
    header.header_bytes = static_cast<std::uint16_t>(entry.layout.payload);
    header.segment_bytes = static_cast<std::uint16_t>(entry.segment_bytes);
    header.checksum_start = static_cast<std::uint16_t>(entry.layout.tcp);
    header.checksum_offset = kTcpChecksumField;
  } else if (entry.segment_bytes != 0) {
    header.flags = kChecksumIsRight;
  }
  std::memcpy(heads_.data() + entry.head, &header, sizeof header);
  pieces_[entry.first_piece] = {heads_.data() + entry.head, entry.head_bytes};
  return std::span(pieces_).subspan(entry.first_piece, entry.pieces);
}

}  // namespace urnic::link
