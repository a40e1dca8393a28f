// Protection domains and what lives in them: memory regions and windows, device memory. A context has them by
// itself until another process imports it; then both work on the same objects, under the same handles, and
// the objects live as long as the last of the two (ibv_import_device(3)).
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/arena.hpp"
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/memory/memory_table.hpp"

namespace urnic::control {

struct ProtectionDomain {
  transport::PdId id;
  std::uint32_t users = 0;  // regions, windows, address handles and QPs in it
};

// ibv_alloc_dm(3): bytes that belong to the device.
struct DeviceMemory {
  std::uint64_t length = 0;  // as asked for
  std::uint32_t users = 0;   // regions in it
  ArenaBlock block;
  std::unique_ptr<memory::ApplicationMemory> memory;  // of the block, from address 0 on
};

struct MemoryRegion {
  Charge charge;
  ProtectionDomain* pd = nullptr;
  memory::RegionSpec spec;
  transport::Lkey key;

  // Whose bytes they are: a program's, the device's, a buffer's of its own, or (none of these) nobody's,
  // which is the null region.
  std::shared_ptr<Process> process;
  DeviceMemory* device_memory = nullptr;
  std::unique_ptr<memory::ApplicationMemory> buffer;
};

struct MemoryWindow {
  Charge charge;
  ProtectionDomain* pd = nullptr;
  wire::Rkey key;  // as given at allocation; binds change its low 8 bits
};

// Control thread only.
class MemoryObjects {
 public:
  MemoryObjects(Fabric& fabric, ServedDevice& device);
  // Takes every object away. QPs that use them must be gone.
  ~MemoryObjects();
  MemoryObjects(const MemoryObjects&) = delete;
  MemoryObjects& operator=(const MemoryObjects&) = delete;

  // A portion of what the destructor does, which then has less to do. False: there was nothing left.
  bool remove_portion();

 private:
  bool remove_windows();
  bool remove_regions();

  Fabric& fabric_;
  ServedDevice& device_;

 public:
  ArenaAllocator device_memory_arenas;
  HandleTable<ProtectionDomain> pds;
  HandleTable<DeviceMemory> device_memories;
  HandleTable<MemoryRegion> regions;
  HandleTable<MemoryWindow> windows;
};

}  // namespace urnic::control
