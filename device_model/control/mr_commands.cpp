// Memory regions and windows: register_mr, deregister_mr, reregister_mr, place_received, allocate_mw,
// deallocate_mw
#include <infiniband/verbs.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <span>

#include "device_model/control/commands.hpp"
#include "device_model/control/limits.hpp"

namespace urnic::control {
namespace {

constexpr std::uint32_t kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                       IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED;
// Huge pages are a hint. What is in the optional range a device may ignore (ibv_reg_mr(3)).
constexpr std::uint32_t kIgnoredAccess = IBV_ACCESS_HUGETLB | std::uint32_t{IBV_ACCESS_OPTIONAL_RANGE};
constexpr std::uint64_t kPageMask = 0xFFF;

// IBTA 10.6.3.1, ibv_reg_mr(3): whom others may let write, the owner must be able to write.
int check_access(std::uint32_t access) {
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) return EOPNOTSUPP;
  if ((access & ~(kKnownAccess | kIgnoredAccess)) != 0) return EINVAL;
  const bool others_write = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  return others_write && (access & IBV_ACCESS_LOCAL_WRITE) == 0 ? EINVAL : 0;
}

// As the kernel's uverbs layer: whatever gives somebody the right to write needs pages that can be written.
bool needs_writable(std::uint32_t access) {
  return (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC |
                    IBV_ACCESS_MW_BIND)) != 0;
}

int check_span(std::uint64_t address, std::uint64_t length, std::uint64_t iova, std::uint32_t access) {
  if (length == 0 || length > limits::kMaxMrSize) return EINVAL;
  if (address + length < address || iova + length < iova) return EINVAL;
  const bool zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  if (!zero_based && (address & kPageMask) != (iova & kPageMask)) return EINVAL;
  return 0;
}

int check_process_memory(const Process& process, const memory::RegionSpec& spec) {
  if (process.memory() == nullptr) {
    spdlog::error("{} (pid {}) cannot register memory: {}", process.program(), process.pid(),
                  process.memory_problem());
    return EPERM;
  }
  return process.check_mapped(spec.address, spec.length, needs_writable(spec.access));
}

}  // namespace

int register_mr(Session& session, const abi::RegisterMrRequest& request, abi::RegisterMrReply& reply,
                DescriptorExchange&) {
  ProtectionDomain* pd = session.context->pds.find(request.pd);
  if (pd == nullptr) return EINVAL;
  if (const int error = check_access(request.access)) return error;
  if (const int error = check_span(request.address, request.length, request.iova, request.access)) {
    return error;
  }
  if (session.device.memory_regions >= limits::kMaxMr) return ENOMEM;

  auto region = std::make_unique<MemoryRegion>();
  region->pd = pd;
  region->process = session.process;
  region->spec = {session.process->memory(),    pd->id, request.address, request.iova, request.length,
                  request.access & kKnownAccess};
  if (const int error = check_process_memory(*session.process, region->spec)) return error;

  std::optional<transport::Lkey> key;
  session.fabric.engine(session.device).execute([&] {
    key = session.device.device->memory_table().add_region(region->spec);
  });
  if (!key) return ENOMEM;
  region->key = *key;
  reply.lkey = reply.rkey = key->value;
  reply.handle = session.context->regions.add(std::move(region));
  ++pd->users;
  ++session.device.memory_regions;
  return 0;
}

int deregister_mr(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  MemoryRegion* region = session.context->regions.find(request.handle);
  if (region == nullptr) return EINVAL;
  bool removed = false;
  session.fabric.engine(session.device).execute([&] {
    removed = session.device.device->memory_table().remove_region(region->key);
  });
  if (!removed) return EBUSY;  // windows are bound to it
  --region->pd->users;
  --session.device.memory_regions;
  session.context->regions.take(request.handle);
  return 0;
}

int reregister_mr(Session& session, const abi::ReregisterMrRequest& request, abi::RegisterMrReply& reply,
                  DescriptorExchange&) {
  constexpr std::uint32_t known =
      IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  MemoryRegion* region = session.context->regions.find(request.handle);
  if (region == nullptr || request.flags == 0 || (request.flags & ~known) != 0) return EINVAL;

  memory::RegionSpec spec = region->spec;
  ProtectionDomain* pd = region->pd;
  std::shared_ptr<Process> process = region->process;
  if ((request.flags & IBV_REREG_MR_CHANGE_PD) != 0) {
    pd = session.context->pds.find(request.change.pd);
    if (pd == nullptr) return EINVAL;
    spec.pd = pd->id;
  }
  if ((request.flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) {
    if (const int error = check_access(request.change.access)) return error;
    spec.access = request.change.access & kKnownAccess;
  }
  if ((request.flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
    process = session.process;
    spec.memory = process->memory();
    spec.address = request.change.address;
    spec.iova = request.change.iova;
    spec.length = request.change.length;
  }
  if (const int error = check_span(spec.address, spec.length, spec.iova, spec.access)) return error;
  if (const int error = check_process_memory(*process, spec)) return error;

  bool changed = false;
  transport::Lkey key;
  session.fabric.engine(session.device).execute([&] {
    changed = session.device.device->memory_table().change_region(region->key, spec, key);
  });
  if (!changed) return EBUSY;
  --region->pd->users;
  ++pd->users;
  region->pd = pd;
  region->process = std::move(process);
  region->spec = spec;
  region->key = key;
  reply.handle = request.handle;
  reply.lkey = reply.rkey = key.value;
  return 0;
}

// The region's rights and bounds are looked at again: it may have gone since the data arrived.
int place_received(Session& session, const abi::PlaceReceivedRequest& request, abi::Empty&,
                   DescriptorExchange&) {
  if (request.length > sizeof request.data) return EINVAL;
  auto data = std::to_array(request.data);
  bool written = false;
  for (const auto& entry : session.context->regions) {
    const MemoryRegion& region = *entry.second;
    if (region.key.value != request.lkey) continue;
    session.fabric.engine(session.device).execute([&] {
      const memory::MemoryTable& table = session.device.device->memory_table();
      transport::MemoryRange range;
      if (table.check_local(region.key, region.pd->id, request.address, request.length,
                            transport::AccessRight::local_write, range) != transport::KeyCheck::ok) {
        return;
      }
      memory::Transfer transfer{.address = range.address,
                                .local = std::as_writable_bytes(std::span(data).first(request.length)),
                                .failed = false};
      region.spec.memory->write({&transfer, 1});
      written = !transfer.failed;
    });
    break;
  }
  return written ? 0 : EFAULT;
}

int allocate_mw(Session& session, const abi::AllocateMwRequest& request, abi::AllocateMwReply& reply,
                DescriptorExchange&) {
  ProtectionDomain* pd = session.context->pds.find(request.pd);
  if (pd == nullptr || (request.type != IBV_MW_TYPE_1 && request.type != IBV_MW_TYPE_2)) return EINVAL;
  if (session.device.memory_windows >= limits::kMaxMw) return ENOMEM;
  auto window = std::make_unique<MemoryWindow>();
  window->pd = pd;
  std::optional<wire::Rkey> key;
  session.fabric.engine(session.device).execute([&] {
    key = session.device.device->memory_table().add_window(pd->id, request.type);
  });
  if (!key) return ENOMEM;
  window->key = *key;
  reply.rkey = key->value;
  reply.handle = session.context->windows.add(std::move(window));
  ++pd->users;
  ++session.device.memory_windows;
  return 0;
}

int deallocate_mw(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  const MemoryWindow* window = session.context->windows.find(request.handle);
  if (window == nullptr) return EINVAL;
  session.fabric.engine(session.device).execute([&] {
    session.device.device->memory_table().remove_window(window->key);
  });
  --window->pd->users;
  --session.device.memory_windows;
  session.context->windows.take(request.handle);
  return 0;
}

}  // namespace urnic::control
