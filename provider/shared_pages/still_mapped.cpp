#include "provider/shared_pages/still_mapped.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/file_status.hpp"
#include "provider/freestanding/map_reader.hpp"

namespace urnic::provider {

std::uint64_t inode_of(int file) {
  struct stat status {};
  return file_status(file, status) == 0 ? status.st_ino : 0;
}

// Inode numbers of other file systems may be the same: the name must be that of a memfd, too.
bool find_mapped_piece(std::uint64_t begin, std::uint64_t end, std::uint64_t inode, MappedPiece& piece) {
  const Descriptor file(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid() || inode == 0) return false;
  MapReader reader(file.get());
  Mapping mapping;
  while (reader.next(mapping) && mapping.begin < end) {
    if (mapping.end <= begin || !mapping.is_shared || mapping.inode != inode) continue;
    if (std::strncmp(mapping.name, "/memfd:", std::strlen("/memfd:")) != 0) continue;
    const std::uint64_t from = std::max(begin, mapping.begin);
    piece = {from, std::min(end, mapping.end), mapping.offset + (from - mapping.begin), mapping.readable,
             mapping.writable};
    return true;
  }
  return false;
}

}  // namespace urnic::provider
