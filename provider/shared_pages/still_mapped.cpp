#include "provider/shared_pages/still_mapped.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/file_status.hpp"
#include "provider/freestanding/map_reader.hpp"

namespace urnic::provider {

std::uint64_t inode_of(int file) {
  struct stat status {};
  return file_status(file, status) == 0 ? status.st_ino : 0;
}

namespace {

// Inode numbers of other file systems may be the same: the name must be that of a memfd, too.
bool is_of_file_in_memory(const Mapping& mapping) {
  return mapping.is_shared && std::strncmp(mapping.name, "/memfd:", std::strlen("/memfd:")) == 0;
}

MappedPiece piece_of(const Mapping& mapping) {
  return {mapping.begin, mapping.end, mapping.offset, mapping.readable, mapping.writable};
}

}  // namespace

bool cut_piece(const MappedPiece& piece, const abi::PageRange& range, MappedPiece& part) {
  const std::uint64_t begin = std::max(piece.begin, range.address);
  const std::uint64_t end = std::min(piece.end, range.address + range.length);
  if (begin >= end) return false;
  part = {begin, end, piece.offset + (begin - piece.begin), piece.readable, piece.writable};
  return true;
}

void for_all_mapped_pieces(void (*use)(std::uint64_t inode, const MappedPiece& piece)) {
  const Descriptor file(open_file("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return;
  MapReader reader(file.get());
  Mapping mapping;
  while (reader.next(mapping))
    if (is_of_file_in_memory(mapping)) use(mapping.inode, piece_of(mapping));
}

bool find_mapped_piece(std::uint64_t begin, std::uint64_t end, std::uint64_t inode, MappedPiece& piece) {
  const Descriptor file(open_file("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (!file.valid() || inode == 0) return false;
  MapReader reader(file.get());
  Mapping mapping;
  while (reader.next(mapping) && mapping.begin < end) {
    if (mapping.inode != inode || !is_of_file_in_memory(mapping)) continue;
    if (cut_piece(piece_of(mapping), {begin, end - begin}, piece)) return true;
  }
  return false;
}

}  // namespace urnic::provider
