// Pages of a file in memory, or of a System V segment, that a program shares, mapped here, too, for plain
// loads and stores: queues.
//
// A program that truncates its file takes the pages away, and the kernel sends SIGBUS to who accesses one.
// Such pages become private memory here, all zero, and the access goes on: the program has lost its queue,
// and nobody else loses anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/memory/shared_mapping.hpp"

namespace urnic::memory {

class FilePages {
 public:
  static constexpr std::size_t kMost = 4096;  // of the process

  // `file` is open for reading and writing; not kept. `offset` and `length`: whole pages. Null if the file
  // does not have all of them, if they cannot be mapped, or if there are kMost already. Control thread only.
  static std::unique_ptr<FilePages> map(int file, std::uint64_t offset, std::uint64_t length);
  static std::unique_ptr<FilePages> map(const Segment& segment, std::uint64_t offset, std::uint64_t length);
  ~FilePages();
  FilePages(const FilePages&) = delete;
  FilePages& operator=(const FilePages&) = delete;

  std::span<std::byte> bytes() const { return mapping_.bytes; }

  // For the handler of SIGBUS, which may call it on any thread. True: the place is one of such pages, and can
  // be accessed now.
  static bool replace_lost(const void* place);

 private:
  FilePages(const SharedMapping& mapping, std::size_t number) : mapping_(mapping), number_(number) {}
  static std::unique_ptr<FilePages> keep(const std::optional<SharedMapping>& mapping);

  const SharedMapping mapping_;
  const std::size_t number_;  // in the table that the handler looks at
};

}  // namespace urnic::memory
