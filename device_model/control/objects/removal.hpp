// How objects are taken away, one or a portion. Between two portions the engine serves the programs, and the
// control thread their requests, so that nobody waits for as long as all of another program's objects take.
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>
#include <type_traits>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control {

// Objects in one portion: about 0.1 ms, if each comes from main memory.
inline constexpr std::uint32_t kPortion = 512;

// Destroys the object, after `withdraw` of it on the engine's thread. 0, or EINVAL if no object has the
// handle, or EBUSY if others work with it.
template <class T, class Withdraw>
int remove_one(HandleTable<T>& table, std::uint32_t handle, engine::Engine& engine,
               const Withdraw& withdraw) {
  T* const object = table.find(handle);
  if (object == nullptr) return EINVAL;
  if constexpr (std::is_base_of_v<Usable, T>) {
    if (object->in_use()) return EBUSY;
  }
  engine.execute([&] { withdraw(*object); });
  table.take(handle);
  return 0;
}

// The same for an object that the engine does not know.
template <class T>
int remove_one(HandleTable<T>& table, std::uint32_t handle) {
  const T* const object = table.find(handle);
  if (object == nullptr) return EINVAL;
  if (object->in_use()) return EBUSY;
  table.take(handle);
  return 0;
}

// Destroys a portion of the table's objects. False: there were none.
template <class T>
bool remove_some(HandleTable<T>& table) {
  return !table.take_some(kPortion).empty();
}

// As above, after `withdraw` of each of the objects on the engine's thread.
template <class T, class Withdraw>
bool remove_some(HandleTable<T>& table, engine::Engine& engine, const Withdraw& withdraw,
                 std::size_t most = kPortion) {
  const auto some = table.take_some(most);
  if (some.empty()) return false;
  engine.execute([&] {
    for (const auto& object : some) withdraw(*object);
  });
  return true;
}

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
