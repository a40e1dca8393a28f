// Checks of this process's memory. A real NIC's driver checks memory by pinning pages, this provider by
// reading /proc/self/maps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urnic::provider {

// Whether the pages of [address, address + length) may be registered; answers as the kernel's pinning would.
// 0; EFAULT: part of the range is not mapped, not readable or, with `writable`, not writable; EINVAL: no page
// (length 0 on a page boundary) or past the end of the address space; or an errno of reading the map.
int check_mapped(std::uint64_t address, std::size_t length, bool writable);

// 0 if [address, address + length) consists of huge pages (larger than the smallest page); EINVAL if not, or
// if part of it is not mapped; or an errno of reading the map.
int check_huge_pages(std::uint64_t address, std::size_t length);

}  // namespace urnic::provider
