// advise_mr
#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>

#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {
namespace {

bool is_window(const Context& context, std::uint32_t key) {
  return std::any_of(context.windows.begin(), context.windows.end(), [&](const auto& entry) {
    return entry.second->key.value >> 8 == key >> 8;  // binds change the low 8 bits
  });
}

const MemoryRegion* find_region(const Context& context, std::uint32_t lkey) {
  const auto found = std::find_if(context.regions.begin(), context.regions.end(),
                                  [&](const auto& entry) { return entry.second->key.value == lkey; });
  return found == context.regions.end() ? nullptr : found->second.get();
}

bool lies_within(const memory::RegionSpec& region, std::uint64_t address, std::uint64_t length) {
  return address >= region.iova && address - region.iova <= region.length &&
         length <= region.length - (address - region.iova);
}

}  // namespace

// As ibv_advise_mr(3), and as Linux's drivers where it leaves a choice. Only the program can bring pages in:
// the reply says whether to, and where they are.
int advise_mr(Session& session, const abi::AdviseMrRequest& request, abi::AdviseMrReply& reply,
              DescriptorExchange&) {
  const Context& context = *session.context;
  const bool writes = request.advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  if (request.advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return EOPNOTSUPP;
  const ProtectionDomain* pd = context.pds.find(request.pd);
  if (pd == nullptr) return EINVAL;
  const MemoryRegion* region = find_region(context, request.lkey);
  if (region == nullptr) return is_window(context, request.lkey) ? EINVAL : ENOENT;
  if ((region->spec.access & IBV_ACCESS_ON_DEMAND) == 0) return EINVAL;
  if (region->pd != pd) return EPERM;
  if (writes && (region->spec.access & IBV_ACCESS_LOCAL_WRITE) == 0) return EPERM;
  if (!lies_within(region->spec, request.address, request.length)) return EFAULT;
  reply.address = region->spec.address + (request.address - region->spec.iova);
  reply.is_senders = region->process == session.process ? 1 : 0;
  return 0;
}

}  // namespace urnic::control
