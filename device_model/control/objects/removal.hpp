// Removes objects, one or a portion at a time. Between two portions the engine and the control thread serve
// other programs, so that these do not wait until all objects are removed.
#pragma once

#include <cerrno>
#include <cstdint>
#include <span>
#include <type_traits>

#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// Objects in one portion: takes about 0.1 ms if each comes from main memory.
inline constexpr std::uint32_t kPortion = 512;

// Destroys the object, after `withdraw` of it on the engine's thread. Returns 0, EINVAL if no object has the
// handle, or EBUSY if other objects use it.
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

// As above, for an object without an engine part.
template <class T>
int remove_one(HandleTable<T>& table, std::uint32_t handle) {
  const T* const object = table.find(handle);
  if (object == nullptr) return EINVAL;
  if (object->in_use()) return EBUSY;
  table.take(handle);
  return 0;
}

// Destroys a portion of the table's objects. False: the table is empty.
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

// Unbinds windows of QPs that are about to be removed, so that the removal itself takes less time. Returns
// whether more are left. The program may bind others meanwhile, but not forever: `portions`, 0 at first,
// limits the calls to the most that there can be.
bool unbind_portion(engine::Engine& engine, engine::Device& device, std::span<const wire::Qpn> queue_pairs,
                    std::uint32_t& portions);

}  // namespace urnic::control
