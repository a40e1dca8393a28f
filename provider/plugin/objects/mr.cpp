#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/freestanding/huge_pages.hpp"
#include "provider/freestanding/memory_map.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"
#include "provider/shared_pages/shared_ranges.hpp"

namespace urnic::provider {
namespace {

constexpr int kRemoteChanges = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr int kKnownAccess = IBV_ACCESS_LOCAL_WRITE | kRemoteChanges | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND |
                             IBV_ACCESS_HUGETLB;
// Rights that the program may ask for and the device may do without (relaxed ordering).
constexpr int kOptionalAccess = IBV_ACCESS_OPTIONAL_RANGE;

// 0 or the errno with which the rights are refused.
int check_access(int access) {
  constexpr int kFlush = abi::kFlushAccess;
  if ((access & ~(kKnownAccess | kOptionalAccess | kFlush)) != 0) return EINVAL;
  // IBTA 10.6.3.1: remote write and remote atomic require local write.
  const bool remote_changes = (access & kRemoteChanges) != 0;
  if (remote_changes && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return EINVAL;
  return (access & kFlush) != 0 ? EOPNOTSUPP : 0;
}

// On-demand memory need not be mapped yet. With IBV_ACCESS_HUGETLB it must consist of huge pages:
// ibv_reg_mr(3) makes the flag a promise for on-demand memory, and a hint for other memory.
int check_memory(const void* address, std::size_t length, int access) {
  if ((access & IBV_ACCESS_ON_DEMAND) != 0) {
    const bool huge = (access & IBV_ACCESS_HUGETLB) != 0;
    return huge ? check_huge_pages(reinterpret_cast<std::uintptr_t>(address), length) : 0;
  }
  return check_mapped(reinterpret_cast<std::uintptr_t>(address), length,
                      (access & IBV_ACCESS_LOCAL_WRITE) != 0);
}

abi::RegisterMrRequest request_for(const ibv_pd* pd, const void* address, std::size_t length,
                                   std::uint64_t iova, int access) {
  const bool zero_based = (access & IBV_ACCESS_ZERO_BASED) != 0;
  return {reinterpret_cast<std::uintptr_t>(address), length, zero_based ? 0 : iova, pd->handle,
          static_cast<std::uint32_t>(access & kKnownAccess)};
}

// Registers the memory, and shares its pages first if the device asks for that (abi::Sharing).
int register_memory(Context& context, abi::RegisterMrRequest request, abi::RegisterMrReply& reply) {
  Lock registration(registration_lock());
  ControlSession session(context);
  request.sharing = abi::Sharing::willing;
  const int error = session.call(abi::ControlOpcode::register_mr, request, reply);
  if (error != 0 || reply.pages.length == 0) return error;
  const abi::PageRange offer = reply.pages;
  const Descriptor file = session.take_descriptor();
  request.sharing = share(offer, file);
  const int outcome = session.call(abi::ControlOpcode::register_mr, request, reply);
  if (request.sharing == abi::Sharing::shared && (outcome != 0 || reply.pages.length != 0))
    unshare(offer, file);
  return outcome;
}

void take_keys(private_abi::Mr& mr, const abi::RegisterMrReply& reply) {
  mr.mr.handle = reply.handle;
  mr.mr.lkey = reply.lkey;
  mr.mr.rkey = reply.rkey;
}

}  // namespace

ibv_mr* register_mr(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, int access) {
  int error = check_access(access);
  if (error == 0) error = check_memory(address, length, access);
  private_abi::Mr* mr = error == 0 ? create_object<private_abi::Mr>() : nullptr;
  if (error == 0 && mr == nullptr) error = ENOMEM;
  abi::RegisterMrReply reply{};
  if (error == 0) {
    error = register_memory(context_of(pd->context), request_for(pd, address, length, iova, access), reply);
  }
  if (error != 0) {
    destroy_object(mr);
    errno = error;
    return nullptr;
  }
  const bool on_demand = (access & IBV_ACCESS_ON_DEMAND) != 0;
  if (!on_demand) prefer_huge_pages(reinterpret_cast<std::uintptr_t>(address), length);
  take_keys(*mr, reply);
  mr->type = private_abi::MrType::plain;
  mr->access = access;
  return &mr->mr;
}

int reregister_mr(private_abi::Mr* mr, int flags, ibv_pd* pd, void* address, std::size_t length, int access) {
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  const bool changes_pd = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
  const int new_access = (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0 ? access : mr->access;
  void* new_address = moves ? address : mr->mr.addr;
  const std::size_t new_length = moves ? length : mr->mr.length;
  int error = check_access(new_access);
  if (error == 0 && changes_pd && pd == nullptr) error = EINVAL;
  if (error == 0) error = check_memory(new_address, new_length, new_access);
  abi::RegisterMrReply reply{};
  if (error == 0) {
    const abi::RegisterMrRequest change =
        request_for(changes_pd ? pd : mr->mr.pd, new_address, new_length,
                    reinterpret_cast<std::uintptr_t>(new_address), new_access);
    const abi::ReregisterMrRequest request{mr->mr.handle, static_cast<std::uint32_t>(flags), change};
    Lock registration(registration_lock());
    ControlSession session(context_of(mr->mr.context));
    error = session.call(abi::ControlOpcode::reregister_mr, request, reply);
    if (error == 0) unshare(reply.pages, session.take_descriptor());
  }
  if (error != 0) {
    errno = error;
    return error;
  }
  take_keys(*mr, reply);
  mr->access = new_access;
  return 0;
}

int deregister_mr(private_abi::Mr* mr) {
  Context& context = context_of(mr->mr.context);
  int error;
  {
    Lock registration(registration_lock());
    ControlSession session(context);
    abi::DeregisterMrReply reply{};
    error = session.call(abi::ControlOpcode::deregister_mr, abi::HandleRequest{mr->mr.handle, 0}, reply);
    if (error == 0) unshare(reply.unneeded, session.take_descriptor());
  }
  error = outcome_of_release(context, error);
  if (error == 0) destroy_object(mr);
  return error;
}

}  // namespace urnic::provider
