#include "device_model/control/uverbs/regions.hpp"

#include <infiniband/verbs.h>

#include <cerrno>

#include "device_model/abi/control.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"

namespace urnic::control {

int check_rights(std::uint32_t access, std::uint32_t served) {
  const std::uint32_t others = access & ~(served | std::uint32_t{IBV_ACCESS_OPTIONAL_RANGE});
  if ((others & ~abi::kFlushAccess) != 0) return EINVAL;
  const bool others_write = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if (others_write && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  return others != 0 ? EOPNOTSUPP : 0;
}

std::unique_ptr<MemoryRegion> begin_region(const Session& session, std::uint32_t pd) {
  auto region = std::make_unique<MemoryRegion>();
  region->share = session.device.memory_regions.take();
  region->charge = session.account->charge(Resource::memory, object_bytes::kKey);
  region->pd = session.context->pds.find(pd);
  return region->pd != nullptr ? std::move(region) : nullptr;
}

int add_region(Session& session, std::unique_ptr<MemoryRegion> region, abi::RegisterMrReply& reply) {
  Joining joining(session.context->regions, std::move(region));
  std::optional<transport::Lkey> key;
  session.fabric.engine(session.device).execute([&] {
    key = session.device.device->memory_table().add_region(joining->spec);
  });
  if (!key) return ENOMEM;
  joining->key = *key;
  reply.lkey = reply.rkey = key->value;
  reply.handle = joining.keep();
  return 0;
}

}  // namespace urnic::control
