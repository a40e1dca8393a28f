// Datagrams that have come to sockets, many with one system call, in buffers that are allocated once.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device_model/link/udp/socket_address.hpp"
#include "wire/frame.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::link {

struct ReceivedDatagram {
  SocketAddress source;
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  bool whole = true;  // false: longer than any RoCEv2 packet, and cut
  std::span<const std::byte> bytes;
  // For the headers of its frame.
  std::array<std::byte, wire::kMaxHeaderBytes>* headers = nullptr;
};

class ReceiveBatch {
 public:
  // At most this many datagrams between two calls of `release`.
  static constexpr std::uint32_t kDatagrams = 128;
  // Of one system call: few enough that their bytes are still in the cache when they are handed on.
  static constexpr std::uint32_t kPerCall = 32;

  ReceiveBatch();

  // Takes what is at `socket`, at most `most` and kPerCall; returns how many. Their number among those in use
  // begins at `in_use() - returned`.
  std::uint32_t receive(int socket, std::uint32_t most);
  // The bytes stay in place until `release`.
  ReceivedDatagram at(std::uint32_t number);
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t room() const { return kDatagrams - in_use_; }
  void release() { in_use_ = 0; }

 private:
  static constexpr std::size_t kControlBytes = 2 * CMSG_SPACE(sizeof(int));
  static constexpr std::size_t kDatagramBytes =
      wire::kMaxTransportHeaderBytes + wire::kMaxPayloadBytes + wire::kMaxTrailerBytes;

  struct Slot {
    SocketAddress source;
    iovec piece;
    alignas(cmsghdr) std::array<std::byte, kControlBytes> control;
    std::array<std::byte, wire::kMaxHeaderBytes> headers;
    std::array<std::byte, kDatagramBytes> bytes;
  };

  void prepare(std::uint32_t number);

  std::uint32_t in_use_ = 0;
  std::unique_ptr<std::array<mmsghdr, kDatagrams>> messages_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace urnic::link
