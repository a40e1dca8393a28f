// The mappings of a process, as the kernel reports them (/proc/PID/maps).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/shared_mapping.hpp"

namespace urnic::control {

class AddressMap {
 public:
  // How the kernel is queried: for one address (PROCMAP_QUERY, from Linux 6.11 on; otherwise falls back to
  // `text`), or by reading the whole map as text.
  enum class Way : std::uint8_t { query, text };

  // Opens the map of the process that has the PID now; see `is_open`.
  explicit AddressMap(pid_t pid, Way way = Way::query);
  bool is_open() const { return static_cast<bool>(maps_); }

  enum class Answer : std::uint8_t { yes, no, unknown, not_yet };

  // Whether all bytes from `address` on are mapped readable, and writable if `writable`. not_yet: a portion
  // of the mappings was checked; call again with the same arguments. unknown: the map cannot be read.
  Answer covers(std::uint64_t address, std::uint64_t length, bool writable);
  static constexpr std::uint32_t kMappingsPerPortion = 64;

  // Reading some of those bytes may take any time: they are not in memory, but in a file whose file system
  // has them on a disk or gets them from another program. A private mapping's written pages are in memory.
  bool may_wait() const { return may_wait_; }

  // If one shared mapping of a file has all of those bytes: which file, and where in it they begin.
  struct FilePlace {
    memory::FileNumber file;
    std::uint64_t offset = 0;
    // Of a System V segment, whose inode number is its identifier (shmget(2)): the size of its pages. 0: it
    // is a file.
    std::uint64_t segment_page_bytes = 0;

    bool is_segment() const { return segment_page_bytes != 0; }
    memory::Segment segment() const { return {static_cast<int>(file.inode), segment_page_bytes}; }
  };
  const std::optional<FilePlace>& shared_file() const { return shared_file_; }

  // One mapping of memory that is the process's alone, no file's, has all of those bytes readable and
  // writable.
  bool is_private_memory() const { return is_private_memory_; }

  // Mappings that the kernel has reported so far.
  std::uint64_t mappings_told() const { return mappings_told_; }

 private:
  struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    bool readable = false;
    bool writable = false;
    bool shared = false;
    dev_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t offset = 0;  // in the file
    bool is_segment = false;
  };

  // The arguments of `covers`, and its progress.
  struct Question {
    std::uint64_t begin = 0;
    std::uint64_t next = 0;  // all before is covered
    std::uint64_t end = 0;
    bool writable = false;
    std::uint32_t cost = 0;  // of this portion, in mappings
  };
  struct CloseFile {
    void operator()(FILE* file) const { std::fclose(file); }
  };

  static bool parse(const char* line, Mapping& mapping);
  bool open_text();
  // Find the next mapping. yes: found. unknown: the kernel does not support the query.
  Answer next_by_query(Mapping& mapping);
  Answer next_by_text(Mapping& mapping);
  Answer next(Mapping& mapping);
  bool is_called_segment(std::uint64_t address) const;
  Answer go_on();
  // Checks the requested bytes of the mapping.
  void look_at(const Mapping& mapping);
  bool is_private_copy(std::uint64_t address, std::uint64_t end) const;

  pid_t pid_;
  memory::Descriptor maps_;
  Way way_;
  std::optional<Question> question_;
  std::unique_ptr<FILE, CloseFile> text_;
  bool line_begins_ = true;  // the text's next byte begins a line
  std::uint64_t mappings_told_ = 0;
  bool may_wait_ = false;
  std::optional<FilePlace> shared_file_;
  bool is_private_memory_ = false;
};

}  // namespace urnic::control
