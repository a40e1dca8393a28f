#include "device_model/link/udp/send_queue.hpp"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "device_model/link/udp/kernel_options.hpp"
#include "device_model/link/udp/udp_socket.hpp"
#include "wire/byte_order.hpp"
#include "wire/hidden_identification.hpp"
#include "wire/icrc.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

// The kernel's limits of a message that it divides (UDP_MAX_SEGMENTS, and a datagram's length).
constexpr std::uint32_t kMostSegments = 64;
constexpr std::size_t kMostBytes = 65'000;

// Adds a control message to `header`, whose control buffer has room.
template <typename Value>
void add_control(msghdr& header, int level, int type, Value value) {
  auto* const at =
      reinterpret_cast<cmsghdr*>(static_cast<std::byte*>(header.msg_control) + header.msg_controllen);
  at->cmsg_level = level;
  at->cmsg_type = type;
  at->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(at), &value, sizeof value);
  header.msg_controllen += CMSG_SPACE(sizeof value);
}

bool is_ipv4(const UdpHop& hop) { return hop.destination.any.sa_family == AF_INET; }

bool same_hop(const UdpHop& one, const UdpHop& other) {
  return one.traffic_class == other.traffic_class && one.hop_limit == other.hop_limit &&
         is_ipv4(one) == is_ipv4(other) &&
         std::memcmp(&one.destination, &other.destination, size_of(one.destination)) == 0;
}

// The kernel gives the packets that it divides a message into the Identifications 0, 1, 2, …: changes the
// ICRC, at the end of `trailer`, of a packet of `bytes` behind the UDP header accordingly.
void set_identification(std::uint32_t identification, std::size_t bytes, std::span<std::byte> trailer) {
  constexpr std::size_t kIdentificationAt = 4;  // in the IPv4 header
  const std::size_t covered =
      wire::kIpv4Bytes - kIdentificationAt + wire::kUdpBytes + bytes - wire::kIcrcBytes;
  const std::uint32_t change = wire::icrc_change(static_cast<std::uint16_t>(identification), covered);
  std::byte* const icrc = trailer.data() + trailer.size() - wire::kIcrcBytes;
  wire::store_be32(icrc, wire::load_be32(icrc) ^ __builtin_bswap32(change));
}

}  // namespace

SendQueue::SendQueue(int socket, bool segmentation, UdpCounters& counters)
    : socket_(socket),
      segmentation_(segmentation),
      counters_(counters),
      headers_(std::make_unique<std::array<mmsghdr, kPackets>>()),
      message_(std::make_unique<std::array<Message, kPackets>>()),
      pieces_(std::make_unique<std::array<iovec, kPackets * kPieces>>()),
      copied_(std::make_unique<std::array<std::array<std::byte, kCopiedBytes>, kPackets>>()) {}

void SendQueue::add(const UdpHop& hop, std::span<const std::byte> headers, std::span<const std::byte> payload,
                    std::span<const std::byte> trailer) {
  if (packets_ == kPackets) had_room_ &= flush();
  std::byte* const copied = (*copied_)[packets_].data();
  std::copy(headers.begin(), headers.end(), copied);
  const std::span<std::byte> end(copied + headers.size(), trailer.size());
  std::copy(trailer.begin(), trailer.end(), end.begin());
  iovec* const pieces = pieces_->data() + packets_ * kPieces;
  pieces[0] = {copied, headers.size()};
  pieces[1] = {const_cast<std::byte*>(payload.data()), payload.size()};
  pieces[2] = {end.data(), end.size()};
  const std::size_t bytes = headers.size() + payload.size() + trailer.size();
  if (!trailer.empty() && may_join(hop, bytes)) {
    join(bytes, end);
  } else {
    begin_message(hop, bytes);
  }
  ++packets_;
}

void SendQueue::begin_message(const UdpHop& hop, std::size_t bytes) {
  Message& message = (*message_)[messages_];
  msghdr& header = (*headers_)[messages_].msg_hdr;
  ++messages_;
  message.hop = hop;
  message.segments = 1;
  message.segment_bytes = message.bytes = bytes;
  header.msg_iov = pieces_->data() + packets_ * kPieces;
  header.msg_iovlen = kPieces;
  describe_hop(message, header);
}

// All packets of a train have the same length; the last may be shorter.
bool SendQueue::may_join(const UdpHop& hop, std::size_t bytes) const {
  if (!segmentation_ || messages_ == 0) return false;
  const Message& last = (*message_)[messages_ - 1];
  return bytes <= last.segment_bytes && last.bytes == last.segments * last.segment_bytes &&
         last.segments < kMostSegments && last.bytes + bytes <= kMostBytes && same_hop(last.hop, hop);
}

void SendQueue::join(std::size_t bytes, std::span<std::byte> trailer) {
  Message& message = (*message_)[messages_ - 1];
  msghdr& header = (*headers_)[messages_ - 1].msg_hdr;
  if (message.segments == 1) {
    header.msg_control = message.control.data();
    add_control(header, IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(message.segment_bytes));
  }
  if (is_ipv4(message.hop)) set_identification(message.segments, bytes, trailer);
  ++message.segments;
  message.bytes += bytes;
  header.msg_iovlen += kPieces;
}

// The socket has the usual values; only others are said.
void SendQueue::describe_hop(Message& message, msghdr& header) const {
  const UdpHop& hop = message.hop;
  header.msg_name = &message.hop.destination;
  header.msg_namelen = size_of(hop.destination);
  header.msg_control = message.control.data();
  header.msg_controllen = 0;
  const int level = is_ipv4(hop) ? IPPROTO_IP : IPPROTO_IPV6;
  if (hop.traffic_class != 0)
    add_control(header, level, is_ipv4(hop) ? IP_TOS : IPV6_TCLASS, int{hop.traffic_class});
  if (hop.hop_limit != kUdpHopLimit)
    add_control(header, level, is_ipv4(hop) ? IP_TTL : IPV6_HOPLIMIT, int{hop.hop_limit});
  if (header.msg_controllen == 0) header.msg_control = nullptr;
}

std::uint64_t SendQueue::packets_from(std::uint32_t message) const {
  std::uint64_t packets = 0;
  for (; message < messages_; ++message) packets += (*message_)[message].segments;
  return packets;
}

// sendmmsg stops at the first message that the kernel refuses, and a further call tells why.
bool SendQueue::flush() {
  std::uint32_t done = 0;
  std::uint64_t left = packets_;
  while (done < messages_) {
    const int sent = sendmmsg(socket_, headers_->data() + done, messages_ - done, MSG_DONTWAIT);
    ++counters_.send_calls;
    if (sent > 0) {
      done += static_cast<std::uint32_t>(sent);
      counters_.sent += left - packets_from(done);
    } else if (errno == EAGAIN) {
      counters_.no_buffer += left;
      had_room_ = false;
      break;
    } else if (errno != EINTR) {
      had_room_ &= count_refusal(errno, (*message_)[done].segments);
      ++done;
    }
    left = packets_from(done);
  }
  packets_ = messages_ = 0;
  return std::exchange(had_room_, true);
}

// False: the kernel has no room.
bool SendQueue::count_refusal(int error, std::uint32_t packets) {
  switch (error) {
    case EMSGSIZE:
      counters_.too_long += packets;
      return true;
    case ENOBUFS:
    case ENOMEM:
      counters_.no_buffer += packets;
      return false;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ECONNREFUSED:
    case EADDRNOTAVAIL:
      counters_.unreachable += packets;
      return true;
    default:
      counters_.refused += packets;
      // The way there takes no undivided messages (EIO, EINVAL).
      if (packets > 1) segmentation_ = false;
      return true;
  }
}

}  // namespace urnic::link
