// Device memory (ibv_alloc_dm(3)): allocate_dm, free_dm, import_dm, register_dm_mr
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/regions.hpp"
#include "device_model/memory/device_bytes.hpp"

namespace urnic::control {
namespace {

constexpr std::uint32_t kDmAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
                                    IBV_ACCESS_ZERO_BASED;

int check_dm_access(std::uint32_t access) {
  if (const int error = check_rights(access, kDmAccess)) return error;
  return (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : EINVAL;  // ibv_alloc_dm(3)
}

}  // namespace

int allocate_dm(Session& session, const abi::AllocateDmRequest& request, abi::DmReply& reply,
                DescriptorExchange& descriptors) {
  Context& context = *session.context;
  if (request.length == 0 || request.length > limits::kMaxDeviceMemory) return EINVAL;
  if (request.log_alignment > limits::kMaxDeviceMemoryAlignment) return EINVAL;
  // A block is aligned to its size, up to a page.
  const std::uint64_t wanted = std::max(request.length, std::uint64_t{1} << request.log_alignment);
  auto memory = std::make_unique<DeviceMemory>();
  memory->block = context.device_memory_arenas.allocate(wanted);
  memory->share = session.device.device_memory.take(memory->block.length());
  memory->length = request.length;
  memory->memory = std::make_unique<memory::DeviceBytes>(std::span(memory->block.data(), request.length));

  const DeviceMemory& made = *memory;
  reply.handle = context.device_memories.add(std::move(memory));
  reply.memory = describe(made.block, context.device_memory_arenas, session, descriptors);
  reply.length = request.length;
  return 0;
}

int free_dm(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->device_memories, request.handle);
}

int import_dm(Session& session, const abi::HandleRequest& request, abi::DmReply& reply,
              DescriptorExchange& descriptors) {
  Context& context = *session.context;
  const DeviceMemory* memory = context.device_memories.find(request.handle);
  if (memory == nullptr) return EINVAL;
  reply.handle = request.handle;
  reply.length = memory->length;
  reply.memory = describe(memory->block, context.device_memory_arenas, session, descriptors);
  return 0;
}

// No access fits into a region of length 0; it is allowed, as in Linux's drivers.
int register_dm_mr(Session& session, const abi::RegisterDmMrRequest& request, abi::RegisterMrReply& reply,
                   DescriptorExchange&) {
  auto region = begin_region(session, request.pd);
  if (region == nullptr) return EINVAL;
  region->device_memory = session.context->device_memories.find(request.dm);
  if (region->device_memory == nullptr) return EINVAL;
  if (const int error = check_dm_access(request.access)) return error;
  const std::uint64_t size = region->device_memory->length;
  if (request.offset > size || request.length > size - request.offset) return EINVAL;
  region->spec = {.memory = region->device_memory->memory.get(),
                  .pd = region->pd->id,
                  .address = request.offset,
                  .iova = 0,
                  .length = request.length,
                  .access = (request.access & kDmAccess) | memory::access_placed_by_device};
  return add_region(session, std::move(region), reply);
}

}  // namespace urnic::control
