// Huge pages for large registered memory. The device reaches a program's memory through the kernel, page by
// page. To find and hold a 4 KiB page costs more than to copy its contents, above all for memory larger than
// the processor's second-level cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urnic::provider {

// Asks the kernel to put the whole 2 MiB blocks of the mapped range [address, address + length) on huge
// pages. Up to 32 MiB of touched memory move at once, the rest when it is touched, or later. Contents and
// access rights stay. Does nothing if the kernel cannot, if the system does not want huge pages, or if the
// memory is a file's or shared.
void prefer_huge_pages(std::uint64_t address, std::size_t length);

}  // namespace urnic::provider
