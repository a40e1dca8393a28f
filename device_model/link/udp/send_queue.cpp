#include "device_model/link/udp/send_queue.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "device_model/link/udp/udp_socket.hpp"

namespace urnic::link {
namespace {

// Adds a control message with an int to `header`, whose control buffer has room.
void add_control(msghdr& header, int level, int type, int value) {
  auto* const at =
      reinterpret_cast<cmsghdr*>(static_cast<std::byte*>(header.msg_control) + header.msg_controllen);
  at->cmsg_level = level;
  at->cmsg_type = type;
  at->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(at), &value, sizeof value);
  header.msg_controllen += CMSG_SPACE(sizeof value);
}

}  // namespace

SendQueue::SendQueue(int socket, UdpCounters& counters)
    : socket_(socket),
      counters_(counters),
      headers_(std::make_unique<std::array<mmsghdr, kMessages>>()),
      messages_(std::make_unique<std::array<Message, kMessages>>()) {}

void SendQueue::add(const UdpHop& hop, std::span<const std::byte> headers, std::span<const std::byte> payload,
                    std::span<const std::byte> trailer) {
  if (count_ == kMessages) had_room_ &= flush();
  Message& message = (*messages_)[count_];
  msghdr& header = (*headers_)[count_].msg_hdr;
  ++count_;
  std::byte* const copied = message.copied.data();
  if (!headers.empty()) std::memcpy(copied, headers.data(), headers.size());
  if (!trailer.empty()) std::memcpy(copied + headers.size(), trailer.data(), trailer.size());
  message.pieces = {{{copied, headers.size()},
                     {const_cast<std::byte*>(payload.data()), payload.size()},
                     {copied + headers.size(), trailer.size()}}};
  header.msg_iov = message.pieces.data();
  header.msg_iovlen = message.pieces.size();
  describe_hop(hop, message, header);
}

// The socket has the usual values; only others are said.
void SendQueue::describe_hop(const UdpHop& hop, Message& message, msghdr& header) const {
  message.destination = hop.destination;
  header.msg_name = &message.destination;
  header.msg_namelen = size_of(message.destination);
  header.msg_control = message.control.data();
  header.msg_controllen = 0;
  const bool ipv4 = hop.destination.any.sa_family == AF_INET;
  if (hop.traffic_class != 0)
    add_control(header, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TOS : IPV6_TCLASS, hop.traffic_class);
  if (hop.hop_limit != kUdpHopLimit)
    add_control(header, ipv4 ? IPPROTO_IP : IPPROTO_IPV6, ipv4 ? IP_TTL : IPV6_HOPLIMIT, hop.hop_limit);
  if (header.msg_controllen == 0) header.msg_control = nullptr;
}

// sendmmsg stops at the first message that the kernel refuses, and a further call tells why.
bool SendQueue::flush() {
  std::uint32_t done = 0;
  while (done < count_) {
    const int sent = sendmmsg(socket_, headers_->data() + done, count_ - done, MSG_DONTWAIT);
    ++counters_.send_calls;
    if (sent > 0) {
      counters_.sent += static_cast<std::uint32_t>(sent);
      done += static_cast<std::uint32_t>(sent);
    } else if (errno == EAGAIN) {
      counters_.no_buffer += count_ - done;
      had_room_ = false;
      break;
    } else if (errno != EINTR) {
      had_room_ &= count_refusal(errno);
      ++done;
    }
  }
  count_ = 0;
  return std::exchange(had_room_, true);
}

// False: the kernel has no room.
bool SendQueue::count_refusal(int error) {
  switch (error) {
    case EMSGSIZE:
      ++counters_.too_long;
      return true;
    case ENOBUFS:
    case ENOMEM:
      ++counters_.no_buffer;
      return false;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ECONNREFUSED:
    case EADDRNOTAVAIL:
      ++counters_.unreachable;
      return true;
    default:
      ++counters_.refused;
      return true;
  }
}

}  // namespace urnic::link
