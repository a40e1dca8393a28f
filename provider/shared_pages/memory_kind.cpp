#include "provider/shared_pages/memory_kind.hpp"

#include <fcntl.h>

#include <cstring>

#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/map_reader.hpp"

namespace urnic::provider {
namespace {

// VmFlags: locked; zeroed in a child; a stack that grows; of a device; of page numbers; huge pages; watched
// for missing pages, writes or minor faults.
constexpr const char* kUnfit[] = {"lo", "wf", "gd", "io", "pf", "ht", "um", "uw", "ui"};

bool has(const MapReader::Flags& flags, const char* name) {
  for (std::size_t i = 0; i < flags.count; ++i)
    if (flags.names[i][0] == name[0] && flags.names[i][1] == name[1]) return true;
  return false;
}

bool is_fit(const MapReader::Flags& flags) {
  for (const char* name : kUnfit)
    if (has(flags, name)) return false;
  return flags.count != 0;
}

// Valgrind keeps in mind which bytes are undefined, and new mappings have none.
bool shows_valgrind(const Mapping& mapping) { return std::strstr(mapping.name, "/valgrind/") != nullptr; }

// Rings of libaio and io_uring, which each process with such I/O has mapped.
bool shows_kernels_io(const Mapping& mapping) {
  return std::strstr(mapping.name, "[aio]") != nullptr || std::strstr(mapping.name, "[io_uring]") != nullptr;
}

}  // namespace

bool look_at_memory(const abi::PageRange& range, MemoryKind& kind) {
  const Descriptor file(open_file("/proc/self/smaps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return false;
  MapReader reader(file.get());
  Mapping mapping;
  MapReader::Flags flags;
  bool found = false;
  while (reader.next(mapping)) {
    reader.flags(flags);
    if (shows_kernels_io(mapping) || shows_valgrind(mapping)) return false;
    if (mapping.begin > range.address || mapping.end < range.address + range.length) continue;
    if (!mapping.is_private_memory || !mapping.readable || !mapping.writable || !is_fit(flags)) return false;
    kind = {has(flags, "dc"), has(flags, "dd")};
    found = true;
  }
  return found && reader.error() == 0;
}

}  // namespace urnic::provider
