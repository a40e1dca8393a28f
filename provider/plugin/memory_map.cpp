#include "provider/plugin/memory_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "provider/plugin/descriptor.hpp"
#include "provider/plugin/map_reader.hpp"

namespace urnic::provider {
namespace {

// The map is in rising order.
int check_covered(MapReader& reader, std::uint64_t begin, std::uint64_t end, bool writable) {
  Mapping mapping;
  while (begin < end && reader.next(mapping)) {
    if (mapping.end <= begin) continue;
    if (mapping.begin > begin || !mapping.readable || (writable && !mapping.writable)) return EFAULT;
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
  return check_covered(reader, first, last, writable);
}

}  // namespace urnic::provider
