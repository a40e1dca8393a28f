// Thread domains and parent domains: whether their objects need locks, and which allocator gives the provider
// memory for them.
//
// To the device, a parent domain is the protection domain that it was made of. For a thread domain the
// program promises that one thread at a time uses its QPs, so they need no lock. The device allocates rings;
// memory for the wr_ids comes from the parent domain's allocator.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "provider/private_abi.hpp"

namespace urnic::provider {

struct ThreadDomain {
  ibv_td verbs;                      // first: the library hands out its address
  std::atomic<std::uint32_t> users;  // parent domains
};

// A protection domain, or a parent domain made of one.
struct Pd {
  ibv_pd verbs;                      // first: the library hands out its address
  std::atomic<std::uint32_t> users;  // of a PD: parent domains; of a parent domain: objects made in it
  Pd* protection_domain;             // of a parent domain; null: this is a PD
  ThreadDomain* thread_domain;       // may be null
  ibv_parent_domain_init_attr attributes;
};

inline Pd& pd_of(ibv_pd* pd) { return *reinterpret_cast<Pd*>(pd); }

// The purpose that the program's allocator is told. Part of the plugin's interface to programs. The upper
// half would be the kernel's driver number; this driver has none.
enum class MemoryUse : std::uint64_t { send_wr_ids = 1, receive_wr_ids = 2 };

// Zeroed memory for an object in a domain. A parent domain's allocator gives it; without an allocator, or if
// that returns IBV_ALLOCATOR_USE_DEFAULT, the C heap does. The destructor does not release it.
class DomainMemory {
 public:
  // `size` and `alignment` in bytes. False when memory is short.
  bool allocate(ibv_pd* pd, std::size_t size, std::size_t alignment, MemoryUse use);
  // Call before the domain is freed. Does nothing if nothing was allocated.
  void release();
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
  Pd* allocator_ = nullptr;  // the parent domain that gave the memory; null: the C heap
  MemoryUse use_{};
};

inline bool is_parent_domain(ibv_pd& pd) { return pd_of(&pd).protection_domain != nullptr; }

// An object made in a parent domain holds the domain, which cannot be freed meanwhile. The device itself
// counts the objects of a protection domain.
inline void hold(ibv_pd* pd) {
  if (is_parent_domain(*pd)) ++pd_of(pd).users;
}
inline void let_go(ibv_pd* pd) {
  if (is_parent_domain(*pd)) --pd_of(pd).users;
}

// Frees the domain. 0, or EBUSY while objects hold it.
int deallocate_parent_domain(Pd& parent);

// Whether only one thread at a time uses the objects made in `pd`.
inline bool is_single_threaded(ibv_pd* pd) { return pd_of(pd).thread_domain != nullptr; }

}  // namespace urnic::provider
