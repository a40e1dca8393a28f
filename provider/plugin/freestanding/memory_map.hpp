// What memory this process has: a real NIC's driver learns it by pinning pages, we by reading
// /proc/self/maps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urnic::provider {

// Whether the pages of [address, address + length) may be registered, as the kernel's pinning would tell. 0;
// EFAULT: part of it is not mapped, not readable or, with `writable`, not writable; EINVAL: no page at all
// (length 0 on a page boundary) or past the end of the address space; or an errno of reading the map.
int check_mapped(std::uint64_t address, std::size_t length, bool writable);

// 0 if all of [address, address + length) is made of huge pages (more than the smallest); EINVAL if not, or
// if part of it is not mapped; or an errno of reading the map.
int check_huge_pages(std::uint64_t address, std::size_t length);

}  // namespace urnic::provider
