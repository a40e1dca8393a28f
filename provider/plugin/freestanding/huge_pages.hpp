// Large registered memory on huge pages. The device reaches a program's memory by the kernel, page by page:
// of 4 KiB pages that finding and holding them costs more than copying what they hold, above all beyond the
// processor's second-level cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urnic::provider {

// Asks the kernel to put whole 2 MiB blocks of [address, address + length), which is mapped, on huge pages.
// Memory that is there is moved at once, up to 32 MiB; the rest as it is touched, or later. Its contents and
// what may be done with it stay the same. Does nothing where the kernel cannot, where the system does not
// want huge pages, and to memory that is a file's or shared.
void prefer_huge_pages(std::uint64_t address, std::size_t length);

}  // namespace urnic::provider
