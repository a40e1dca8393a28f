#include "device_model/control/objects/memory_objects.hpp"

#include <exception>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"

namespace urnic::control {
namespace {

// Programs know arenas by number only, so device memory's arenas have other numbers than the queues'.
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
    log::critical("memory regions cannot be destroyed: {}", error.what());
    std::terminate();  // otherwise the engine would use freed memory
  }
}

bool MemoryObjects::remove_portion() {
  engine::Engine& engine = fabric_.engine(device_);
  memory::MemoryTable& table = device_.device->memory_table();
  const auto withdraw_window = [&](const MemoryWindow& window) { table.remove_window(window.key); };
  const auto withdraw_region = [&](const MemoryRegion& region) {
    const memory::RegionSpec& spec = region.spec;
    table.remove_region(region.key);
    if (spec.memory->waiting() != nullptr)
      engine.data_path().forget_memory(*spec.memory, spec.address, spec.length);
  };
  return remove_some(windows, engine, withdraw_window) || remove_some(regions, engine, withdraw_region);
}

}  // namespace urnic::control
