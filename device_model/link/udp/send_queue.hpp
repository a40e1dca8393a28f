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
  // `counters` outlives it; the socket stays open. With `segmentation`, the kernel gets packets of equal
  // length to one destination as one message and divides it (UDP_SEGMENT), which costs it much less.
  SendQueue(int socket, bool segmentation, UdpCounters& counters);

  // Adds the datagram that consists of the three pieces. Copies `headers`, of at most kCopiedBytes with
  // `trailer`; `payload` stays in place until `flush`. If the queue is full, sends it first.
  static constexpr std::size_t kCopiedBytes = 64;
  void add(const UdpHop& hop, std::span<const std::byte> headers, std::span<const std::byte> payload,
           std::span<const std::byte> trailer);

  // Sends all. What the kernel refuses is counted and dropped, as on any network. False: the kernel had no
  // room for some of them.
  bool flush();

 private:
  // A round of packets of 1024 bytes, with some acknowledgements: a call that ended within a train would
  // begin another one.
  static constexpr std::size_t kPackets = 288;
  static constexpr std::size_t kPieces = 3;
  // TOS, TTL and the length of a segment, an int each at most.
  static constexpr std::size_t kControlBytes = 3 * CMSG_SPACE(sizeof(int));

  // One packet, or a train of packets that the kernel divides.
  struct Message {
    UdpHop hop;
    std::uint32_t segments = 0;
    std::size_t segment_bytes = 0;
    std::size_t bytes = 0;
    alignas(cmsghdr) std::array<std::byte, kControlBytes> control;
  };

  void begin_message(const UdpHop& hop, std::size_t bytes);
  bool may_join(const UdpHop& hop, std::size_t bytes) const;
  void join(std::size_t bytes, std::span<std::byte> trailer);
  void describe_hop(Message& message, msghdr& header) const;
  std::uint64_t packets_from(std::uint32_t message) const;
  bool count_refusal(int error, std::uint32_t packets);

  const int socket_;
  bool segmentation_;
  UdpCounters& counters_;
  std::uint32_t packets_ = 0;
  std::uint32_t messages_ = 0;
  bool had_room_ = true;  // since the last `flush`
  std::unique_ptr<std::array<mmsghdr, kPackets>> headers_;
  std::unique_ptr<std::array<Message, kPackets>> message_;
  std::unique_ptr<std::array<iovec, kPackets * kPieces>> pieces_;
  std::unique_ptr<std::array<std::array<std::byte, kCopiedBytes>, kPackets>> copied_;
};

}  // namespace urnic::link
