// ibv_reg_mr_ex (rdma-core 59): memory or a dma-buf, described by attributes.
#include <cerrno>

#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

using private_abi::kMrHasAddress;
using private_abi::kMrHasBuffer;
using private_abi::kMrHasBufferOffset;
using private_abi::kMrHasIova;

// 0 or an errno. DMA handles are a property of a bus that this device is not on.
int check(std::uint64_t mask) {
  if ((mask & ~(kMrHasIova | kMrHasAddress | kMrHasBuffer | kMrHasBufferOffset)) != 0) return EOPNOTSUPP;
  const std::uint64_t kind = mask & ~kMrHasIova;
  if (kind == kMrHasAddress) return 0;
  return mask == (kMrHasBuffer | kMrHasBufferOffset | kMrHasIova) ? 0 : EINVAL;
}

}  // namespace

ibv_mr* register_mr_by_attributes(ibv_pd* pd, const private_abi::MrInitAttributes* attributes) {
  const private_abi::MrInitAttributes& by = *attributes;
  if (const int error = check(by.comp_mask)) {
    errno = error;
    return nullptr;
  }
  if ((by.comp_mask & kMrHasBuffer) != 0) {
    return register_dma_buf_mr(pd, by.buffer_offset, by.length, by.iova, by.buffer, by.access);
  }
  const bool has_iova = (by.comp_mask & kMrHasIova) != 0;
  const std::uint64_t iova = has_iova ? by.iova : reinterpret_cast<std::uintptr_t>(by.address);
  return register_mr(pd, by.address, by.length, iova, by.access);
}

}  // namespace urnic::provider
