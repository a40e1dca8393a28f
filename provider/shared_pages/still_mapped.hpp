// Which parts of a range of addresses are still a certain file's.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// A part of a shared mapping of the file.
struct MappedPiece {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t offset;  // in the file
  bool readable;
  bool writable;
};

// The inode number of an open file; 0 if it cannot be told.
std::uint64_t inode_of(int file);

// The first piece of [begin, end) that is of the file in memory with that inode number. False: there is none.
bool find_mapped_piece(std::uint64_t begin, std::uint64_t end, std::uint64_t inode, MappedPiece& piece);

// The part of a piece that lies in the range. False: there is none.
bool cut_piece(const MappedPiece& piece, const abi::PageRange& range, MappedPiece& part);

// Calls `use` with the file's inode number and the piece, for each shared mapping of a file in memory.
void for_all_mapped_pieces(void (*use)(std::uint64_t inode, const MappedPiece& piece));

// Calls `use` for each piece. It may change the mappings of that piece.
template <typename Use>
void for_mapped_pieces(const abi::PageRange& range, std::uint64_t inode, Use use) {
  const std::uint64_t end = range.address + range.length;
  MappedPiece piece;
  for (std::uint64_t at = range.address; find_mapped_piece(at, end, inode, piece); at = piece.end) use(piece);
}

}  // namespace urnic::provider
