#include "provider/freestanding/memory_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/map_reader.hpp"

namespace urnic::provider {
namespace {

// 0 if suitable mappings cover [begin, end) without a gap; else EFAULT or an errno. The map is in rising
// order. Calls `suits` for each mapping, also for those before the range, because MapReader::page_size needs
// that.
template <typename Suits>
int check_covered(MapReader& reader, std::uint64_t begin, std::uint64_t end, Suits suits) {
  Mapping mapping;
  while (begin < end && reader.next(mapping)) {
    const bool fits = suits(mapping);
    if (mapping.end <= begin) continue;
    if (mapping.begin > begin || !fits) return EFAULT;
    begin = mapping.end;
  }
  if (reader.error() != 0) return reader.error();
  return begin < end ? EFAULT : 0;
}

}  // namespace

int check_mapped(std::uint64_t address, std::size_t length, bool writable) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t end = address + length;
  if (end < address || end > end + page - 1) return EINVAL;
  const std::uint64_t first = address & ~(page - 1);
  const std::uint64_t last = (end + page - 1) & ~(page - 1);
  if (first == last) return EINVAL;
  const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  MapReader reader(file.get());
  return check_covered(reader, first, last, [writable](const Mapping& mapping) {
    return mapping.readable && (!writable || mapping.writable);
  });
}

int check_huge_pages(std::uint64_t address, std::size_t length) {
  if (address + length < address) return EINVAL;
  const auto small = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) / 1024;
  const Descriptor file(open("/proc/self/smaps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return errno;
  MapReader reader(file.get());
  const int error = check_covered(reader, address, address + length,
                                  [&](const Mapping&) { return reader.page_size() > small; });
  return error == EFAULT ? EINVAL : error;
}

}  // namespace urnic::provider
