#include "provider/plugin/objects/parent_domain.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

bool has_allocators(const Pd& pd) {
  return (pd.attributes.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
}

int check(const ibv_parent_domain_init_attr& attributes) {
  constexpr std::uint32_t kKnown =
      IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
  if (attributes.pd == nullptr || is_parent_domain(*attributes.pd)) return EINVAL;
  if ((attributes.comp_mask & ~kKnown) != 0) return EOPNOTSUPP;
  const bool allocates = (attributes.comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0;
  return allocates && (attributes.alloc == nullptr || attributes.free == nullptr) ? EINVAL : 0;
}

ThreadDomain* thread_domain_of(ibv_td* td) { return reinterpret_cast<ThreadDomain*>(td); }

}  // namespace

ibv_td* allocate_td(ibv_context* context, ibv_td_init_attr* attributes) {
  auto* td = attributes->comp_mask == 0 ? create_object<ThreadDomain>() : nullptr;
  if (td == nullptr) {
    errno = attributes->comp_mask != 0 ? EINVAL : ENOMEM;
    return nullptr;
  }
  td->verbs.context = context;
  return &td->verbs;
}

int deallocate_td(ibv_td* verbs) {
  ThreadDomain* td = thread_domain_of(verbs);
  if (td->users.load() != 0) return EBUSY;
  destroy_object(td);
  return 0;
}

ibv_pd* allocate_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes) {
  int error = check(*attributes);
  auto* parent = error == 0 ? create_object<Pd>() : nullptr;
  if (error == 0 && parent == nullptr) error = ENOMEM;
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  parent->verbs.context = context;
  parent->verbs.handle = attributes->pd->handle;
  parent->attributes = *attributes;
  if ((attributes->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) == 0) {
    parent->attributes.pd_context = nullptr;
  }
  parent->protection_domain = &pd_of(attributes->pd);
  ++parent->protection_domain->users;
  if (attributes->td != nullptr) {
    parent->thread_domain = thread_domain_of(attributes->td);
    ++parent->thread_domain->users;
  }
  return &parent->verbs;
}

int deallocate_parent_domain(Pd& parent) {
  if (parent.users.load() != 0) return EBUSY;
  --parent.protection_domain->users;
  if (parent.thread_domain != nullptr) --parent.thread_domain->users;
  destroy_object(&parent);
  return 0;
}

bool DomainMemory::allocate(ibv_pd* verbs, std::size_t size, std::size_t alignment, MemoryUse use) {
  Pd& pd = pd_of(verbs);
  use_ = use;
  memory_ = IBV_ALLOCATOR_USE_DEFAULT;
  if (has_allocators(pd)) {
    const ibv_parent_domain_init_attr& by = pd.attributes;
    memory_ = by.alloc(verbs, by.pd_context, size, alignment, static_cast<std::uint64_t>(use));
  }
  if (memory_ == IBV_ALLOCATOR_USE_DEFAULT) {
    memory_ = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  } else {
    allocator_ = &pd;
  }
  if (memory_ != nullptr) std::memset(memory_, 0, size);
  return memory_ != nullptr;
}

void DomainMemory::release() {
  if (memory_ == nullptr) return;
  if (allocator_ != nullptr) {
    const ibv_parent_domain_init_attr& by = allocator_->attributes;
    by.free(&allocator_->verbs, by.pd_context, memory_, static_cast<std::uint64_t>(use_));
  } else {
    std::free(memory_);
  }
  memory_ = nullptr;
}

}  // namespace urnic::provider
