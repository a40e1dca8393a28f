// Datagrams that leave by one socket, all with one system call.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device_model/link/udp/socket_address.hpp"
#include "device_model/link/udp/udp_counters.hpp"

namespace urnic::link {

// Of a packet, from its IP header.
struct UdpHop {
  SocketAddress destination;
  std::uint8_t traffic_class = 0;  // IPv4: type of service
  std::uint8_t hop_limit = 0;      // IPv4: time to live
};

class SendQueue {
 public:
  // `counters` outlives it; the socket stays open.
  SendQueue(int socket, UdpCounters& counters);

  // Adds the datagram that consists of the three pieces. Copies `headers`, of at most kCopiedBytes with
  // `trailer`; `payload` stays in place until `flush`. If the queue is full, sends it first.
  static constexpr std::size_t kCopiedBytes = 64;
  void add(const UdpHop& hop, std::span<const std::byte> headers, std::span<const std::byte> payload,
           std::span<const std::byte> trailer);

  // Sends all. What the kernel refuses is counted and dropped, as on any network. False: the kernel had no
  // room for some of them.
  bool flush();

 private:
  static constexpr std::size_t kMessages = 64;
  // TOS and TTL, an int each.
  static constexpr std::size_t kControlBytes = 2 * CMSG_SPACE(sizeof(int));

  struct Message {
    SocketAddress destination;
    std::array<iovec, 3> pieces;
    alignas(cmsghdr) std::array<std::byte, kControlBytes> control;
    std::array<std::byte, kCopiedBytes> copied;
  };

  void describe_hop(const UdpHop& hop, Message& message, msghdr& header) const;
  bool count_refusal(int error);

  const int socket_;
  UdpCounters& counters_;
  std::uint32_t count_ = 0;
  bool had_room_ = true;  // since the last `flush`
  std::unique_ptr<std::array<mmsghdr, kMessages>> headers_;
  std::unique_ptr<std::array<Message, kMessages>> messages_;
};

}  // namespace urnic::link
