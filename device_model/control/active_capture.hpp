// A capture under way: the frames of the switch, or of one device on it, into a ring that another process
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/control/fabric.hpp"
#include "device_model/link/observation.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class ActiveCapture final : public link::FrameObserver {
 public:
  // Starts it. With `device`, only frames to and from it. Throws std::system_error.
  ActiveCapture(Fabric& fabric, const ServedDevice* device);
  // Ends it; what is in the ring stays there for the reader.
  ~ActiveCapture();
  ActiveCapture(const ActiveCapture&) = delete;
  ActiveCapture& operator=(const ActiveCapture&) = delete;

  const capture::CaptureWriter& writer() const { return writer_; }

  void observe(const link::Observation& observation) override;

 private:
  Fabric& fabric_;
  std::optional<wire::MacAddress> only_;
  capture::CaptureWriter writer_;
};

}  // namespace urnic::control
