#include "device_model/control/memory_objects.hpp"

#include <spdlog/spdlog.h>

#include <exception>

#include "device_model/control/limits.hpp"
#include "device_model/control/portions.hpp"

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
    engine::Engine& engine = fabric_.engine(device_);
    memory::MemoryTable& table = device_.device->memory_table();
    visit_in_portions(engine, windows, [&](const auto& entry) { table.remove_window(entry.second->key); });
    visit_in_portions(engine, regions, [&](const auto& entry) {
      const memory::RegionSpec& spec = entry.second->spec;
      table.remove_region(entry.second->key);
      if (spec.memory->waiting() != nullptr)
        engine.data_path().forget_memory(*spec.memory, spec.address, spec.length);
    });
  } catch (const std::exception& error) {
    spdlog::critical("memory regions cannot be taken away: {}", error.what());
    std::terminate();  // the engine would go on using memory that is about to go
  }
  for (const auto& [handle, memory] : device_memories) device_.device_memory -= memory->block.length();
  device_.memory_windows -= static_cast<std::uint32_t>(windows.size());
  device_.memory_regions -= static_cast<std::uint32_t>(regions.size());
  device_.protection_domains -= static_cast<std::uint32_t>(pds.size());
}

}  // namespace urnic::control
