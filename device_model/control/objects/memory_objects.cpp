#include "device_model/control/objects/memory_objects.hpp"

#include <exception>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/objects/portions.hpp"

namespace urnic::control {
namespace {

// A program knows arenas by number only, so those of device memory count from elsewhere than its queues'.
constexpr std::uint32_t kFirstDeviceMemoryArena = 1u << 31;

}  // namespace

MemoryObjects::MemoryObjects(Fabric& fabric, ServedDevice& device)
    : fabric_(fabric),
      device_(device),
      device_memory_arenas(limits::kMaxDeviceMemoryArenas, kFirstDeviceMemoryArena) {}

MemoryObjects::~MemoryObjects() {
  try {
    while (remove_portion()) {
    }
  } catch (const std::exception& error) {
    log::critical("memory regions cannot be taken away: {}", error.what());
    std::terminate();  // the engine would go on using memory that is about to go
  }
  for (const auto& [handle, memory] : device_memories) device_.device_memory -= memory->block.length();
  device_.protection_domains -= static_cast<std::uint32_t>(pds.size());
}

bool MemoryObjects::remove_portion() { return remove_windows() || remove_regions(); }

bool MemoryObjects::remove_windows() {
  const auto some = windows.take_some(kPortion);
  if (some.empty()) return false;
  fabric_.engine(device_).execute([&] {
    for (const auto& window : some) device_.device->memory_table().remove_window(window->key);
  });
  device_.memory_windows -= static_cast<std::uint32_t>(some.size());
  return true;
}

bool MemoryObjects::remove_regions() {
  const auto some = regions.take_some(kPortion);
  if (some.empty()) return false;
  engine::Engine& engine = fabric_.engine(device_);
  engine.execute([&] {
    for (const auto& region : some) {
      const memory::RegionSpec& spec = region->spec;
      device_.device->memory_table().remove_region(region->key);
      if (spec.memory->waiting() != nullptr)
        engine.data_path().forget_memory(*spec.memory, spec.address, spec.length);
    }
  });
  device_.memory_regions -= static_cast<std::uint32_t>(some.size());
  return true;
}

}  // namespace urnic::control
