// Frames that are one message each on a socket: many with one system call, in buffers that are allocated
// once.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_carrier.hpp"
#include "device_model/link/frames/frame_stream.hpp"
#include "wire/ethernet.hpp"

namespace urnic::link {

class FrameBatch {
 public:
  // At most this many frames between two calls of `release`.
  static constexpr std::uint32_t kFrames = 128;
  // Of one system call.
  static constexpr std::uint32_t kPerCall = 32;

  // `counters` outlives it.
  explicit FrameBatch(CarrierCounters& counters);

  // Takes frames from `socket` until there are none, or `most`. A VLAN tag that the kernel tells beside a
  // frame (PACKET_AUXDATA) is put back into it.
  std::span<const std::span<std::byte>> receive(int socket, const Load& most);
  void release() { in_use_ = 0; }

  // As FrameCarrier::send. `error` is what the kernel said last, or 0. A frame that the kernel refuses is
  // counted and skipped.
  std::size_t send(int socket, std::span<const std::byte> frames, int& error);

 private:
  struct Slot {
    iovec piece;
    alignas(cmsghdr) std::array<std::byte, 64> control;
    std::array<std::byte, wire::kVlanTagBytes> tag_space;  // in front of the frame
    std::array<std::byte, kMostFrameBytes> bytes;
  };

  void prepare(std::uint32_t number);
  void hand_over(std::uint32_t number);

  CarrierCounters& counters_;
  std::uint32_t in_use_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::array<mmsghdr, kFrames> messages_{};
  std::array<mmsghdr, kPerCall> outgoing_{};
  std::array<iovec, kPerCall> pieces_{};
  std::vector<std::span<std::byte>> given_;
};

}  // namespace urnic::link
