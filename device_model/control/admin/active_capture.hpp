// A running capture: the frames of all switches, of one device or of one queue pair, at given capture points,
// written into a ring that another process reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/control/admin/capture_points.hpp"
#include "device_model/control/admin/frame_sampler.hpp"
#include "device_model/control/admin/queue_pair_filter.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/link/port.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class ActiveCapture final : public link::FrameObserver {
 public:
  // One place where the capture sees frames. Entries of the ring have its index.
  struct Interface {
    std::string device;
    link::CapturePoint point;
    LinkLayer link_layer = LinkLayer::ethernet;
  };

  // What it records. Frames of all devices unless one is named.
  struct Wanted {
    CapturePoints points;
    const ServedDevice* device = nullptr;
    std::optional<wire::Qpn> queue_pair{};  // of `device`
    // Of a fast stream only some frames (frame_sampler.hpp), and the engine never waits for the reader.
    bool sample = false;
    // Of each frame so many bytes are kept, from the first on.
    std::size_t snapshot_bytes = capture::kMaxFrameBytes;
  };

  // Starts it. Throws std::system_error.
  ActiveCapture(Fabric& fabric, const Wanted& wanted);
  // Ends it; the ring's contents stay for the reader.
  ~ActiveCapture();
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;

  const capture::CaptureWriter& writer() const { return writer_; }
  const std::vector<Interface>& interfaces() const { return interfaces_; }

  std::size_t reach() const override { return reach_; }
  void observe(const link::Observation& observation) override;

 private:
  Fabric& fabric_;
  const std::size_t reach_;
  const ServedDevice* only_ = nullptr;
  std::optional<QueuePairFilter> queue_pair_;
  std::vector<Interface> interfaces_;
  // With several engines, one waits here for another: the ring has one writer, and in the file a frame is
  // sent before it arrives.
  const bool several_engines_;
  std::mutex one_writer_;
  std::optional<FrameSampler> sampler_;
  capture::CaptureWriter writer_;
};

}  // namespace urnic::control
