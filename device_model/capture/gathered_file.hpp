// A file that is written with few and large writes, which the kernel gathers from pieces in memory (writev):
// the kernel alone copies the frames; the bytes around them are collected here.
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
  // Flushes. An error is lost here: call flush() first to see it.
  ~GatheredFile();

  // To be called before each record. Writes out the records so far if there is no room for another.
  void begin_record();
  // Append to the record. `put` copies: at most 4 KiB of a record, and a frame's comment. `refer`, once in a
  // record, copies short bytes only; longer ones must stay in place until flush() has returned.
  void put(const void* bytes, std::size_t size);
  void refer(std::span<const std::byte> bytes);
  // Writes out all records. None of them may be incomplete.
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
