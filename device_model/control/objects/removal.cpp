#include "device_model/control/objects/removal.hpp"

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"

namespace urnic::control {

bool unbind_portion(engine::Engine& engine, engine::Device& device, std::span<const wire::Qpn> queue_pairs,
                    std::uint32_t& portions) {
  std::uint32_t looked_at = 0;
  engine.execute([&] {
    for (const wire::Qpn qpn : queue_pairs)
      looked_at += device.memory_table().release_queue_pair(qpn, kPortion - looked_at);
  });
  return looked_at == kPortion && ++portions <= limits::kMaxMw / kPortion;
}

}  // namespace urnic::control
