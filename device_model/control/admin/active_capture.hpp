// A running capture: the frames of all switches, or of one device, at given capture points, written into a
// ring that another process reads.
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
  };

  // Starts it. With `device`, only frames to and from it. Throws std::system_error.
  ActiveCapture(Fabric& fabric, const ServedDevice* device, const CapturePoints& points);
  // Ends it; the ring's contents stay for the reader.
  ~ActiveCapture();
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;

  const capture::CaptureWriter& writer() const { return writer_; }
  const std::vector<Interface>& interfaces() const { return interfaces_; }

  void observe(const link::Observation& observation) override;

 private:
  Fabric& fabric_;
  std::optional<wire::MacAddress> only_;
  std::vector<Interface> interfaces_;
  // With several engines, one waits here for another: the ring has one writer, and in the file a frame is
  // sent before it arrives.
  const bool several_engines_;
  std::mutex one_writer_;
  capture::CaptureWriter writer_;
};

}  // namespace urnic::control
