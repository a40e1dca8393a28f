// How the device reaches the memory of a region: by system calls, through a copier, or because it has mapped
// it, too. And what a program is offered so that this can be (abi::Sharing).
#pragma once

#include <memory>

#include "device_model/abi/control.hpp"
#include "device_model/control/uverbs/session.hpp"
#include "device_model/memory/memory_table.hpp"

namespace urnic::control {

// What a region has for its memory alone.
struct RegionMemory {
  std::unique_ptr<memory::ApplicationMemory> own;  // null: it is reached as all memory of the process
  MemorySharing::Registered registered;
  std::shared_ptr<SharedPages> pages;  // those that `own` has mapped, if it has mapped any
  bool may_be_shared = false;
};

bool is_on_demand(std::uint32_t access);
// Address 0 and the whole length: the implicit region (ibv_reg_mr(3)), the address space at its own
// addresses. Only explicit regions can have huge pages.
bool is_implicit(const memory::RegionSpec& spec);

// Checks the memory of `spec` in `process`, and sets spec.memory. 0, kNotYet, or an errno: EFAULT, EPERM,
// ENOMEM, EOPNOTSUPP.
int choose_memory(Session& session, Process& process, memory::RegionSpec& spec, RegionMemory& memory);

// Offers the program to share pages of the region, if that is possible and pays; else no range.
abi::PageRange offer_pages(Session& session, const memory::RegionSpec& spec, RegionMemory& memory,
                           DescriptorExchange& descriptors);
// What came of the offer. Maps the pages that are shared, and sets spec.memory to that. Returns the pages
// that the program has shared in vain, because they cannot be mapped here.
abi::PageRange take_up_offer(Session& session, abi::Sharing outcome, memory::RegionSpec& spec,
                             RegionMemory& memory);

// Gives `region` this memory instead of its former one.
void install(RegionMemory memory, MemoryRegion& region);

// The region does not reach its memory any more. If its pages were shared for it alone: the range that its
// process, which must be the one that asks, is to make private again.
abi::PageRange give_up_pages(Session& session, MemoryRegion& region, DescriptorExchange& descriptors);

}  // namespace urnic::control
