// A file that is written in few and large pieces, which the kernel gathers from where they lie (writev):
// frames are copied once on their way, by the kernel, and what stands around them is put together here.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::capture {

// All functions but the destructor throw std::system_error, with the path, if the file cannot be written; the
// file then ends behind the last whole record that went to it, and every later call throws too.
class GatheredFile {
 public:
  // Creates or truncates `path`; "-" is standard output.
  explicit GatheredFile(const std::string& path);
  GatheredFile(const GatheredFile&) = delete;
  GatheredFile& operator=(const GatheredFile&) = delete;
  // Flushes; an error is lost here, so who cares calls flush() first.
  ~GatheredFile();

  // Before each record: what was put up to here are whole records. Writes them out if there is no room for
  // another.
  void begin_record();
  // Appends to the record: `put` copies, of a record 4 KiB and a frame's comment at most; `refer` copies
  // short bytes and leaves others, once in a record, where they are, where they must stay until flush() has
  // returned.
  void put(const void* bytes, std::size_t size);
  void refer(std::span<const std::byte> bytes);
  // Writes out all that was put, whole records.
  void flush();

 private:
  void point_to(const std::byte* bytes, std::size_t size);
  [[noreturn]] void fail(int error);

  std::string path_;
  memory::Descriptor file_;
  std::vector<std::byte> copied_;  // never grows beyond what it reserved: pieces_ points into it
  std::vector<iovec> pieces_;
  std::uint64_t flushed_ = 0;  // bytes of the file that are whole records
  int error_ = 0;
};

}  // namespace urnic::capture
