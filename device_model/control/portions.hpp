// Work of the engine on many objects, in portions: between two of them the engine serves the programs, so
// that nobody waits for as long as all of another program's objects take.
#pragma once

#include <cstdint>
#include <span>

#include "device_model/control/limits.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control {

// Objects in one portion: about 0.1 ms, if each comes from main memory.
inline constexpr std::uint32_t kPortion = 512;

// Calls `visit` with each element of `all` in the engine's thread. Nothing changes `all` meanwhile.
template <class Range, class Visit>
void visit_in_portions(engine::Engine& engine, Range& all, const Visit& visit) {
  auto next = all.begin();
  while (next != all.end()) {
    engine.execute([&] {
      for (std::uint32_t i = 0; i < kPortion && next != all.end(); ++i, ++next) visit(*next);
    });
  }
}

// Unbinds the windows of QPs that are about to go, so that few are left for the task that destroys them.
// Their program may bind others meanwhile, but not for ever: no more portions are looked at than there can
// be.
inline void release_windows(engine::Engine& engine, engine::Device& device,
                            std::span<const wire::Qpn> queue_pairs) {
  std::uint32_t looked_at = kPortion;
  for (std::uint32_t i = 0; looked_at == kPortion && i <= limits::kMaxMw / kPortion; ++i) {
    engine.execute([&] {
      looked_at = 0;
      for (const wire::Qpn qpn : queue_pairs)
        looked_at += device.memory_table().release_queue_pair(qpn, kPortion - looked_at);
    });
  }
}

}  // namespace urnic::control
