#include "device_model/control/active_capture.hpp"

#include <cstring>

namespace urnic::control {
namespace {

constexpr std::size_t kRingBytes = std::size_t{32} << 20;
constexpr std::size_t kMacBytes = 6;

// An Ethernet header begins with destination and source.
bool concerns(const wire::Frame& frame, const wire::MacAddress& mac) {
  if (frame.headers.size() < 2 * kMacBytes) return false;
  return std::memcmp(frame.headers.data(), mac.bytes.data(), kMacBytes) == 0 ||
         std::memcmp(frame.headers.data() + kMacBytes, mac.bytes.data(), kMacBytes) == 0;
}

}  // namespace

ActiveCapture::ActiveCapture(Fabric& fabric, const ServedDevice* device)
    : fabric_(fabric), writer_(kRingBytes) {
  if (device != nullptr) only_ = device->settings.mac;
  fabric_.engine().execute([this] { fabric_.wires().add_observer(*this); });
}

ActiveCapture::~ActiveCapture() {
  fabric_.engine().execute([this] { fabric_.wires().remove_observer(*this); });
}

void ActiveCapture::observe(const link::Observation& observation) {
  if (observation.point != link::CapturePoint::before_link) return;
  if (!only_ || concerns(observation.frame, *only_)) writer_.observe(observation.frame);
}

}  // namespace urnic::control
