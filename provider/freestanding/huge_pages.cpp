#include "provider/freestanding/huge_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "provider/freestanding/address.hpp"
#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/map_reader.hpp"

namespace urnic::provider {
namespace {

constexpr std::uint64_t kBlock = 2 * 1024 * 1024;
// Bytes that are moved while the program waits, about 5 ms per block. A dozen transfers earn that back.
constexpr std::uint64_t kMostMovedAtOnce = 32 * 1024 * 1024;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, Linux 6.1; glibc 2.36 does not name it

// The system's setting must be checked here, because MADV_COLLAPSE ignores it
// (Documentation/admin-guide/mm/transhuge.rst).
bool wanted_by_the_system() {
  const Descriptor file(open("/sys/kernel/mm/transparent_hugepage/enabled", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t got = file.valid() ? read_file(file.get(), text, sizeof text - 1) : -1;
  if (got <= 0) return false;
  text[got] = '\0';
  return std::strstr(text, "[never]") == nullptr;
}

// Whether the block's first page is in memory. A block that was never touched needs no move.
bool is_there(std::uint64_t block) {
  unsigned char resident = 0;
  return mincore(pointer_to(block), 1, &resident) == 0 && (resident & 1) != 0;
}

// [begin, end) is whole blocks of one mapping. `may_move`: bytes that may still be moved.
void prefer(std::uint64_t begin, std::uint64_t end, std::uint64_t& may_move) {
  if (madvise(pointer_to(begin), end - begin, MADV_HUGEPAGE) != 0) return;
  for (std::uint64_t block = begin; block < end && may_move != 0; block += kBlock) {
    if (!is_there(block)) continue;
    if (madvise(pointer_to(block), kBlock, kCollapse) != 0) return;
    may_move -= kBlock;
  }
}

}  // namespace

void prefer_huge_pages(std::uint64_t address, std::size_t length) {
  const std::uint64_t first = (address + kBlock - 1) & ~(kBlock - 1);
  const std::uint64_t last = (address + length) & ~(kBlock - 1);
  if (first >= last || !wanted_by_the_system()) return;
  const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return;
  MapReader reader(file.get());
  std::uint64_t may_move = kMostMovedAtOnce;
  Mapping mapping;
  while (reader.next(mapping) && mapping.begin < last) {
    const std::uint64_t begin = std::max((mapping.begin + kBlock - 1) & ~(kBlock - 1), first);
    const std::uint64_t end = std::min(mapping.end & ~(kBlock - 1), last);
    if (mapping.is_private_memory && begin < end) prefer(begin, end, may_move);
  }
}

}  // namespace urnic::provider
