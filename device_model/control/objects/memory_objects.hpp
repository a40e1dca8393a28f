// Protection domains and their contents: memory regions and windows, device memory. A context has its own
// until another process imports the context; then both use the same objects under the same handles, and the
// objects live as long as either (ibv_import_device(3)).
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/arena_allocator.hpp"
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/memory/memory_table.hpp"

namespace urnic::control {

// Contains regions, windows, address handles, QPs and SRQs.
struct ProtectionDomain : Usable {
  Share share;
  transport::PdId id;
};

// ibv_alloc_dm(3): memory of the device, which regions can be registered on.
struct DeviceMemory : Usable {
  Share share;
  std::uint64_t length = 0;  // as requested
  ArenaBlock block;
  std::unique_ptr<memory::ApplicationMemory> memory;  // the block, from address 0 on
};

struct MemoryRegion {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  memory::RegionSpec spec;
  transport::Lkey key;

  // The owner of the bytes: a process, device memory, a dma-buf, or none of these for the null region. Shared
  // memory of a process may be mapped, which `buffer` then is.
  std::shared_ptr<Process> process;
  Use<DeviceMemory> device_memory;
  std::unique_ptr<memory::ApplicationMemory> buffer;
  // Of a process's memory: that it is registered, and its pages that are shared for that, or null.
  MemorySharing::Registered registered;
  std::shared_ptr<SharedPages> pages;
};

struct MemoryWindow {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  wire::Rkey key;  // at allocation; binds change its low 8 bits
};

// Control thread only.
class MemoryObjects {
 public:
  MemoryObjects(Fabric& fabric, ServedDevice& device);
  // Destroys all objects. QPs that use them must be gone.
  ~MemoryObjects();
  MemoryObjects(const MemoryObjects&) = delete;
  MemoryObjects& operator=(const MemoryObjects&) = delete;

  // Does a portion of the destructor's work in advance. False: nothing is left.
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
