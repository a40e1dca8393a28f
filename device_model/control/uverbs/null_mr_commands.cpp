// allocate_null_mr
#include <cerrno>
#include <limits>

#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/regions.hpp"
#include "device_model/memory/null_memory.hpp"

namespace urnic::control {

// No remote rights: only the L_Key is valid (ibv_alloc_null_mr(3)).
int allocate_null_mr(Session& session, const abi::HandleRequest& request, abi::RegisterMrReply& reply,
                     DescriptorExchange&) {
  static memory::NullMemory nowhere;
  auto region = begin_region(session, request.handle);
  if (region == nullptr) return EINVAL;
  region->spec = {.memory = &nowhere,
                  .pd = region->pd->id,
                  .length = std::numeric_limits<std::uint64_t>::max(),
                  .access = std::uint32_t{memory::access_local_write} | memory::access_placed_by_device};
  // The null region is no object of the domain: the domain may be deallocated before it, as with devices
  // whose null region is a reserved key.
  region->pd = nullptr;
  return add_region(session, std::move(region), reply);
}

}  // namespace urnic::control
