// How much work the engine does for the control thread in one go: between two portions it serves the
// programs, and the control thread their requests, so that nobody waits for as long as all of another
// program's objects take.
#pragma once

#include <cstdint>
#include <span>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control {

// Objects in one portion: about 0.1 ms, if each comes from main memory.
inline constexpr std::uint32_t kPortion = 512;

// Unbinds windows of QPs that are about to go, so that few are left for the task that destroys them. Returns
// whether there are more. Their program may bind others meanwhile, but not for ever: `portions`, which begins
// at 0, counts to what there can be at most.
inline bool unbind_portion(engine::Engine& engine, engine::Device& device,
                           std::span<const wire::Qpn> queue_pairs, std::uint32_t& portions) {
  std::uint32_t looked_at = 0;
  engine.execute([&] {
    for (const wire::Qpn qpn : queue_pairs)
      looked_at += device.memory_table().release_queue_pair(qpn, kPortion - looked_at);
  });
  return looked_at == kPortion && ++portions <= limits::kMaxMw / kPortion;
}

}  // namespace urnic::control
