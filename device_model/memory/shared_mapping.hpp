// A part of a program's file in memory, or of a System V segment, mapped here, too: whole pages, which are
// huge ones if the file's are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::memory {

// Its identifier (shmget(2)) is of this process's IPC namespace.
struct Segment {
  int identifier = -1;
  std::uint64_t page_bytes = 0;  // of one of its pages
};

struct SharedMapping {
  std::span<std::byte> pages;    // all that is mapped, which the owner unmaps
  std::span<std::byte> bytes;    // those that were asked for
  std::uint64_t page_bytes = 0;  // no smaller part can be unmapped
};

// Of a file in memory. Its preferred block (st_blksize) would not do: where tmpfs takes large pages that is
// their size.
std::uint64_t page_bytes_of(int file);

// `file` is of tmpfs or hugetlbfs, and open for reading, and for writing if `writable`; not kept. Empty if it
// cannot be mapped. Pages beyond its end are mapped, and missing; of huge ones it must have all, as mmap(2)
// would make the file longer.
std::optional<SharedMapping> map_file(int file, std::uint64_t offset, std::uint64_t length, bool writable);

// This process needs the rights that a program needs. Empty if the segment has not all of these bytes, or
// cannot be attached. A segment is attached as often as it has mappings.
std::optional<SharedMapping> map_segment(const Segment& segment, std::uint64_t offset, std::uint64_t length,
                                         bool writable);

}  // namespace urnic::memory
