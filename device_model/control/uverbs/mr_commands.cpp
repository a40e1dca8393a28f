// Memory regions and windows: register_mr, deregister_mr, reregister_mr, place_received, allocate_mw,
// deallocate_mw
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <span>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/region_memory.hpp"
#include "device_model/control/uverbs/regions.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"

namespace urnic::control {
namespace {

constexpr std::uint32_t kMrAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
                                    IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB;
constexpr std::uint64_t kPageMask = 0xFFF;

int check_mr_access(std::uint32_t access) { return check_rights(access, kMrAccess); }

// Ends all copies to and from the region's memory, on the engine's thread. A copy that does not end is ended
// with its copier.
void forget_waits(const Session& session, const MemoryRegion& region) {
  memory::WaitingMemory* const memory = region.spec.memory->waiting();
  if (memory == nullptr) return;
  engine::DataPath& data_path = session.fabric.engine(session.device).data_path();
  const bool any = data_path.forget_memory(*memory, region.spec.address, region.spec.length);
  if (any && !memory->idle()) region.process->end_copier();
}

// The rights that the device keeps. On-demand memory may not be there when data is received.
std::uint32_t kept_access(std::uint32_t access) {
  const std::uint32_t kept = access & kMrAccess;
  return is_on_demand(access) ? kept | memory::access_placed_by_device : kept;
}

int check_span(const memory::RegionSpec& spec) {
  if (is_implicit(spec)) return spec.iova == 0 && (spec.access & IBV_ACCESS_HUGETLB) == 0 ? 0 : EINVAL;
  if (spec.length == 0 || spec.length > limits::kMaxMrSize) return EINVAL;
  if (spec.address + spec.length < spec.address || spec.iova + spec.length < spec.iova) return EINVAL;
  const bool zero_based = (spec.access & IBV_ACCESS_ZERO_BASED) != 0;
  if (!zero_based && (spec.address & kPageMask) != (spec.iova & kPageMask)) return EINVAL;
  return 0;
}

}  // namespace

int register_mr(Session& session, const abi::RegisterMrRequest& request, abi::RegisterMrReply& reply,
                DescriptorExchange& descriptors) {
  auto region = begin_region(session, request.pd);
  if (region == nullptr) return EINVAL;
  region->process = session.process;
  region->spec = {nullptr,      region->pd->id, request.address,
                  request.iova, request.length, kept_access(request.access)};
  if (const int error = check_mr_access(request.access)) return error;
  if (const int error = check_span(region->spec)) return error;
  RegionMemory memory;
  if (const int error = choose_memory(session, *session.process, region->spec, memory)) return error;
  if (request.sharing == abi::Sharing::willing) {
    reply.pages = offer_pages(session, region->spec, memory, descriptors);
    if (reply.pages.length != 0) return 0;
  } else {
    reply.pages = take_up_offer(session, request.sharing, region->spec, memory);
  }
  install(std::move(memory), *region);
  return add_region(session, std::move(region), reply);
}

int deregister_mr(Session& session, const abi::HandleRequest& request, abi::DeregisterMrReply& reply,
                  DescriptorExchange& descriptors) {
  MemoryRegion* region = session.context->regions.find(request.handle);
  if (region == nullptr) return EINVAL;
  bool removed = false;
  session.fabric.engine(session.device).execute([&] {
    removed = session.device.device->memory_table().remove_region(region->key);
    if (removed) forget_waits(session, *region);
  });
  if (!removed) return EBUSY;  // windows are bound to it
  reply.unneeded = give_up_pages(session, *region, descriptors);
  session.context->regions.take(request.handle);
  return 0;
}

int reregister_mr(Session& session, const abi::ReregisterMrRequest& request, abi::RegisterMrReply& reply,
                  DescriptorExchange& descriptors) {
  constexpr std::uint32_t known =
      IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  MemoryRegion* region = session.context->regions.find(request.handle);
  if (region == nullptr || request.flags == 0 || (request.flags & ~known) != 0) return EINVAL;
  if (region->process == nullptr) return EINVAL;  // not a program's memory: ibv_alloc_null_mr(3) and others

  memory::RegionSpec spec = region->spec;
  ProtectionDomain* pd = region->pd;
  std::shared_ptr<Process> process = region->process;
  if ((request.flags & IBV_REREG_MR_CHANGE_PD) != 0) {
    pd = session.context->pds.find(request.change.pd);
    if (pd == nullptr) return EINVAL;
    spec.pd = pd->id;
  }
  if ((request.flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) {
    if (const int error = check_mr_access(request.change.access)) return error;
    if (((spec.access ^ request.change.access) & IBV_ACCESS_ZERO_BASED) != 0) {
      spec.iova = (request.change.access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : spec.address;
    }
    spec.access = kept_access(request.change.access);
  }
  if ((request.flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
    process = session.process;
    spec.address = request.change.address;
    spec.iova = request.change.iova;
    spec.length = request.change.length;
  }
  if (const int error = check_span(spec)) return error;
  RegionMemory memory;
  if (const int error = choose_memory(session, *process, spec, memory)) return error;

  bool changed = false;
  transport::Lkey key;
  session.fabric.engine(session.device).execute([&] {
    changed = session.device.device->memory_table().change_region(region->key, spec, key);
    if (changed) forget_waits(session, *region);
  });
  if (!changed) return EBUSY;
  reply.pages = give_up_pages(session, *region, descriptors);
  region->pd = pd;
  install(std::move(memory), *region);  // before the process, which the former one refers to
  region->process = std::move(process);
  region->spec = spec;
  region->key = key;
  reply.handle = request.handle;
  reply.lkey = reply.rkey = key.value;
  return 0;
}

// Checks the region's rights and bounds again: it may be gone since the data arrived.
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
      if (table.check_local(region.key, region.spec.pd, request.address, request.length,
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
  auto window = std::make_unique<MemoryWindow>();
  window->share = session.device.memory_windows.take();
  window->charge = session.account->charge(Resource::memory, object_bytes::kKey);
  window->pd = pd;
  Joining joining(session.context->windows, std::move(window));
  std::optional<wire::Rkey> key;
  session.fabric.engine(session.device).execute([&] {
    key = session.device.device->memory_table().add_window(pd->id, request.type);
  });
  if (!key) return ENOMEM;
  joining->key = *key;
  reply.rkey = key->value;
  reply.handle = joining.keep();
  return 0;
}

int deallocate_mw(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  memory::MemoryTable& table = session.device.device->memory_table();
  return remove_one(session.context->windows, request.handle, session.fabric.engine(session.device),
                    [&](const MemoryWindow& window) { table.remove_window(window.key); });
}

}  // namespace urnic::control
