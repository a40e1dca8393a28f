// Thread domains and parent domains: who may use what is made in them, and whose memory the provider takes
// for it.
//
// To the device a parent domain is the protection domain that it was made of. In a thread domain the program
// has promised that one thread at a time uses its QPs, so they need no lock. Rings belong to the device; what
// the provider keeps beside them, the wr_ids, comes from the parent domain's allocator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "provider/rdmav34.hpp"

namespace urnic::provider {

struct ThreadDomain {
  ibv_td verbs;                      // first: the library hands out its address
  std::atomic<std::uint32_t> users;  // parent domains
};

// A protection domain, or a parent domain made of one.
struct Pd {
  ibv_pd verbs;                      // first: the library hands out its address
  std::atomic<std::uint32_t> users;  // of a PD: parent domains; of a parent domain: what was made in it
  Pd* protection_domain;             // of a parent domain; null: this is none
  ThreadDomain* thread_domain;       // may be null
  ibv_parent_domain_init_attr attributes;
};

inline Pd& pd_of(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }

// What an allocator is told that it allocates for. Part of the plugin's interface to programs; the upper half
// would be the kernel's number of the driver, which has none.
enum class MemoryUse : std::uint64_t { send_wr_ids = 1, receive_wr_ids = 2 };

// Zeroed memory for an object in a domain: from the allocator of a parent domain that has one and does not
// leave it to the provider (IBV_ALLOCATOR_USE_DEFAULT), otherwise from the C heap. Not released by itself.
class DomainMemory {
 public:
  // False if there is none.
  bool allocate(ibv_pd* pd, std::size_t size, std::size_t alignment, MemoryUse use);
  // The domain is still there. Harmless if nothing was allocated.
  void release();
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
  Pd* allocator_ = nullptr;  // whose program gave it; null: the C heap
  MemoryUse use_{};
};

inline bool is_parent_domain(ibv_pd& pd) { return pd_of(&pd).protection_domain != nullptr; }

// An object that is made in a domain holds it: a parent domain is not freed with something in it. What is
// made in a protection domain the device counts itself.
inline void hold(ibv_pd* pd) {
  if (is_parent_domain(*pd)) ++pd_of(pd).users;
}
inline void let_go(ibv_pd* pd) {
  if (is_parent_domain(*pd)) --pd_of(pd).users;
}

// 0 or EBUSY.
int deallocate_parent_domain(Pd& parent);

// Whether only one thread at a time uses what is made in `pd`.
inline bool is_single_threaded(ibv_pd* pd) { return pd_of(pd).thread_domain != nullptr; }

}  // namespace urnic::provider
