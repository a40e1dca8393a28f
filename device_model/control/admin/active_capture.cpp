#include "device_model/control/admin/active_capture.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/control/fabric/engine_unit.hpp"

namespace urnic::control {
namespace {

constexpr std::size_t kRingBytes = std::size_t{32} << 20;
constexpr std::size_t kSampleRingBytes = std::size_t{2} << 20;
constexpr int kPatienceMs = 1000;
constexpr std::size_t kMacBytes = 6;

static_assert(link::kMaxRemarkBytes <= capture::kMaxCommentBytes);

// An Ethernet header begins with the destination and source addresses.
bool concerns(const wire::Frame& frame, const wire::MacAddress& mac) {
  if (frame.headers.size() < 2 * kMacBytes) return false;
  return std::memcmp(frame.headers.data(), mac.bytes.data(), kMacBytes) == 0 ||
         std::memcmp(frame.headers.data() + kMacBytes, mac.bytes.data(), kMacBytes) == 0;
}

bool is_event(const link::Observation& observation) {
  return !observation.remarks.empty() || observation.point == link::CapturePoint::dropped;
}

std::vector<ActiveCapture::Interface> interfaces_of(const Fabric& fabric, const CapturePoints& points) {
  std::vector<ActiveCapture::Interface> interfaces;
  for (const auto& device : fabric.devices()) {
    for (const link::CapturePoint point : points) interfaces.push_back({device->settings.name, point});
  }
  return interfaces;
}

}  // namespace

ActiveCapture::ActiveCapture(Fabric& fabric, const Wanted& wanted)
    : fabric_(fabric),
      reach_(wanted.snapshot_bytes),
      interfaces_(interfaces_of(fabric, wanted.points)),
      several_engines_(fabric.engines() > 1),
      writer_(wanted.sample ? kSampleRingBytes : kRingBytes, wanted.sample ? 0 : kPatienceMs,
              wanted.snapshot_bytes) {
  if (wanted.sample) sampler_.emplace();
  if (wanted.queue_pair) {
    queue_pair_ = QueuePairFilter{wanted.device->settings.mac, *wanted.queue_pair};
  } else if (wanted.device != nullptr) {
    only_ = wanted.device->settings.mac;
  }
  fabric_.execute_on_all([this](EngineUnit& unit) { unit.frame_switch.add_observer(*this); });
}

ActiveCapture::~ActiveCapture() {
  fabric_.execute_on_all([this](EngineUnit& unit) { unit.frame_switch.remove_observer(*this); });
}

void ActiveCapture::observe(const link::Observation& observation) {
  if (queue_pair_ && !queue_pair_->takes(observation)) return;
  if (only_ && !concerns(observation.frame, *only_)) return;
  std::unique_lock<std::mutex> lock;
  if (several_engines_) lock = std::unique_lock(one_writer_);
  if (sampler_ && !sampler_->takes(writer_.is_empty(), is_event(observation))) return writer_.skip();
  // There are few interfaces: comparing is as fast as any table.
  const auto seen = std::find_if(interfaces_.begin(), interfaces_.end(), [&](const Interface& interface) {
    return interface.point == observation.point && interface.device == observation.device;
  });
  if (seen == interfaces_.end()) return;  // the capture does not include this point
  writer_.observe(observation.frame,
                  {static_cast<std::uint16_t>(seen - interfaces_.begin()), observation.remarks});
}

}  // namespace urnic::control
