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
#include "device_model/control/objects/use.hpp"
#include "device_model/memory/memory_table.hpp"

namespace urnic::control {

// Regions, windows, address handles, QPs and SRQs are in it.
struct ProtectionDomain : Usable {
  Share share;
  transport::PdId id;
};

// ibv_alloc_dm(3): bytes that belong to the device. Regions are in it.
struct DeviceMemory : Usable {
  Share share;
  std::uint64_t length = 0;  // as asked for
  ArenaBlock block;
  std::unique_ptr<memory::ApplicationMemory> memory;  // of the block, from address 0 on
};

struct MemoryRegion {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  memory::RegionSpec spec;
  transport::Lkey key;

  // Whose bytes they are: a program's, the device's, a buffer's of its own, or (none of these) nobody's,
  // which is the null region.
  std::shared_ptr<Process> process;
  Use<DeviceMemory> device_memory;
  std::unique_ptr<memory::ApplicationMemory> buffer;
};

struct MemoryWindow {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
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
