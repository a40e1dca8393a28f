// The device's end of its own network interface, a TAP: with offloads as those of a NIC. The host leaves
// check sums and the division of TCP segments to the interface, and gets segments joined (tap_header.hpp; the
// kernel's Documentation/networking/tuntap.rst). On the link there are whole frames of the interface's MTU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/link/frames/host_frames.hpp"
#include "device_model/link/frames/tcp_segmenter.hpp"
#include "device_model/link/frames/wake_set.hpp"
#include "device_model/link/uplink.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

class HostTap {
 public:
  // From open_tap, with offloads: each frame that is read or written has a TapHeader in front.
  explicit HostTap(memory::Descriptor tap);

  int wake_descriptor() const { return wake_.descriptor(); }
  // Frames of the host, at most so many; what does not fit comes with the next call. Their bytes stay until
  // `release`, the list until the next call.
  std::span<const std::span<std::byte>> receive(std::uint32_t most);
  void release() { in_use_ = 0; }
  // Gives all frames to the host; those that it does not take are lost.
  void send(HostFrames& frames);

  // Whether the host sees a cable with something at its other end. A kernel that cannot say it does not.
  void set_carrier(bool present);

  // Frames of the host that no interface could send: dropped.
  std::uint64_t impossible() const { return impossible_; }

 private:
  static constexpr std::uint32_t kFrames = 128;
  static constexpr std::uint32_t kPerRound = 32;
  static constexpr std::size_t kMostWholeBytes = 65'536 + 64;

  // Reads what the host sends next. False: nothing.
  bool read_whole();
  void give(std::size_t bytes);
  std::byte* place() const { return bytes_.get() + in_use_ * kMostFrameBytes; }

  memory::Descriptor tap_;
  WakeSet wake_;
  TcpSegmenter segmenter_;  // of `whole_`
  std::array<std::byte, kMostWholeBytes> whole_{};
  std::unique_ptr<std::byte[]> bytes_;
  std::uint32_t in_use_ = 0;
  std::vector<std::span<std::byte>> given_;
  std::uint64_t impossible_ = 0;
};

}  // namespace urnic::link
