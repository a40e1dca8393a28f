// Datagrams that have come to sockets, many with one system call, in buffers that are allocated once.
//
// A message of the kernel is one datagram, or a train: datagrams of equal length from one sender with equal
// headers, the last one maybe shorter, that the kernel has joined or its sender never divided (UDP_GRO).
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/link/udp/socket_address.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

struct ReceivedDatagram {
  std::uint32_t socket = 0;  // as `receive` was told
  SocketAddress source;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint16_t before = 0;  // datagrams of its train
  // How many datagrams the kernel had dropped at this socket when this one found room (SO_RXQ_OVFL), modulo
  // 2^32; 0 if there were none, or if the socket does not tell.
  std::uint32_t kernel_drops = 0;
  std::span<const std::byte> bytes;
  // For the headers of its frame.
  std::array<std::byte, wire::kMaxHeaderBytes>* headers = nullptr;
};

class ReceiveBatch {
 public:
  // At most this many datagrams between two calls of `release`.
  static constexpr std::uint32_t kDatagrams = 256;

  ReceiveBatch();

  // Receives from `socket` with one system call: at most kPerCall messages, and about kBytesPerCall if they
  // are as long as those of the call before, so that they are still in the cache when they are handed on.
  // Returns whether there may be more.
  bool receive(int socket, std::uint32_t number);
  // The next datagram; empty: there is none, or none before `release`. Its bytes stay in place until
  // `release`.
  std::optional<ReceivedDatagram> next();
  // Datagrams since the last `release`.
  std::uint32_t in_use() const { return handed_on_; }
  bool has_room() const { return handed_on_ != kDatagrams; }
  void release();

 private:
  static constexpr std::uint32_t kMessages = 64;
  static constexpr std::uint32_t kPerCall = 32;
  static constexpr std::size_t kBytesPerCall = 128 * 1024;
  // TOS, TTL, the length of a train's datagrams, and the number of drops.
  static constexpr std::size_t kControlBytes = 4 * CMSG_SPACE(sizeof(int));
  // The longest message. What is added keeps the beginnings of slots out of the same few places of a cache.
  static constexpr std::size_t kMessageBytes = 65'536 + 4'096;

  struct Slot {
    std::uint32_t socket;
    SocketAddress source;
    iovec piece;
    alignas(cmsghdr) std::array<std::byte, kControlBytes> control;
    std::array<std::byte, kMessageBytes> bytes;
  };
  // The message whose datagrams `next` returns.
  struct Train {
    ReceivedDatagram datagram;  // the next one, without `bytes` and `headers`
    std::span<const std::byte> left;
    std::size_t length = 0;  // of each datagram
    bool begun = false;
  };

  void prepare(std::uint32_t message);
  void begin_train();

  std::uint32_t received_ = 0;  // messages
  std::uint32_t taken_ = 0;     // of them, those whose datagrams were all returned
  std::uint32_t handed_on_ = 0;
  std::size_t longest_ = 0;  // message of the last call
  Train train_;
  std::unique_ptr<std::array<mmsghdr, kMessages>> messages_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<std::array<std::byte, wire::kMaxHeaderBytes>[]> headers_;
};

}  // namespace urnic::link
