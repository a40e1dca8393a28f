#include "device_model/control/admin/active_capture.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/engine/device.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::control {
namespace {

constexpr std::size_t kRingBytes = std::size_t{32} << 20;
constexpr std::size_t kSampleRingBytes = std::size_t{2} << 20;
constexpr int kPatienceMs = 1000;
constexpr std::size_t kMacBytes = 6;

static_assert(link::kMaxRemarkBytes <= capture::kMaxCommentBytes);

// Whether the packet is of this device or for it. An Ethernet header begins with the destination and source
// addresses.
bool concerns(const link::Observation& observation, const ServedDevice& device) {
  const wire::Frame& frame = observation.frame;
  const wire::MacAddress& mac = device.settings.mac;
  if (frame.link_layer == wire::LinkLayer::infiniband) {
    const engine::LocalLids& lids = device.device->lids();
    return observation.origin.device == mac || observation.device == device.settings.name ||
           wire::has_lid(lids.base, lids.lmc, wire::infiniband::destination_of(frame.headers));
  }
  if (frame.headers.size() < 2 * kMacBytes) return false;
  return std::memcmp(frame.headers.data(), mac.bytes.data(), kMacBytes) == 0 ||
         std::memcmp(frame.headers.data() + kMacBytes, mac.bytes.data(), kMacBytes) == 0;
}

bool is_event(const link::Observation& observation) {
  return !observation.remarks.empty() || observation.point == link::CapturePoint::dropped;
}

// What one device sends or receives passes links of its own kind only.
std::vector<ActiveCapture::Interface> interfaces_of(const Fabric& fabric,
                                                    const ActiveCapture::Wanted& wanted) {
  std::vector<ActiveCapture::Interface> interfaces;
  for (const auto& device : fabric.devices()) {
    if (wanted.device != nullptr && device->settings.link_layer != wanted.device->settings.link_layer)
      continue;
    for (const link::CapturePoint point : wanted.points)
      interfaces.push_back({device->settings.name, point, device->settings.link_layer});
  }
  return interfaces;
}

}  // namespace

ActiveCapture::ActiveCapture(Fabric& fabric, const Wanted& wanted)
    : fabric_(fabric),
      reach_(wanted.snapshot_bytes),
      interfaces_(interfaces_of(fabric, wanted)),
      several_engines_(fabric.engines() > 1),
      writer_(wanted.sample ? kSampleRingBytes : kRingBytes, wanted.sample ? 0 : kPatienceMs,
              wanted.snapshot_bytes) {
  if (wanted.sample) sampler_.emplace();
  if (wanted.queue_pair) {
    queue_pair_ =
        QueuePairFilter{wanted.device->settings.mac, *wanted.queue_pair, &wanted.device->device->lids()};
  } else {
    only_ = wanted.device;
  }
  fabric_.execute_on_all([this](EngineUnit& unit) { unit.frame_switch.add_observer(*this); });
}

ActiveCapture::~ActiveCapture() {
  fabric_.execute_on_all([this](EngineUnit& unit) { unit.frame_switch.remove_observer(*this); });
}

void ActiveCapture::observe(const link::Observation& observation) {
  if (queue_pair_ && !queue_pair_->takes(observation)) return;
  if (only_ != nullptr && !concerns(observation, *only_)) return;
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
