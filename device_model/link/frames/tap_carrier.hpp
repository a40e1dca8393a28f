// Frames of a TAP interface: the host is at its other end, as on a cable. An ordinary user may use one that
// was made for him (`ip tuntap add dev tap0 mode tap user NAME`), or make one in a network namespace of his
// own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device_model/link/frames/frame_carrier.hpp"
#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/link/frames/wake_set.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

// With offloads each frame on the descriptor has a header in front (tap_header.hpp).
enum class TapOffloads : bool { none, offered };
// Opens the end of the TAP interface that is not the host's, and makes the interface if there is none of that
// name. Throws std::system_error with a sentence.
memory::Descriptor open_tap(const std::string& interface, TapOffloads offloads = TapOffloads::none);
// Brings the interface up if this user may.
void bring_up(const std::string& interface);

class TapCarrier final : public FrameCarrier {
 public:
  // `tap` is from `open_tap`, perhaps in another network namespace.
  explicit TapCarrier(memory::Descriptor tap);

  int wake_descriptor() const override { return wake_.descriptor(); }
  bool is_connected() const override { return true; }
  std::span<const std::span<std::byte>> receive(transport::Time now, const Load& most) override;
  void release() override { in_use_ = 0; }
  std::size_t send(std::span<const std::byte> frames) override;
  CarrierCounters counters() const override { return counters_; }

 private:
  // The kernel gives and takes one frame with a system call.
  static constexpr std::uint32_t kFrames = 128;
  static constexpr std::uint32_t kPerRound = 32;

  memory::Descriptor tap_;
  WakeSet wake_;
  CarrierCounters counters_;
  std::unique_ptr<std::byte[]> bytes_;
  std::uint32_t in_use_ = 0;
  std::vector<std::span<std::byte>> given_;
};

}  // namespace urnic::link
