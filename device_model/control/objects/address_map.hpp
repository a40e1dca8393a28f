// What a process has mapped, by the kernel's word (/proc/PID/maps).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class AddressMap {
 public:
  // How the kernel is asked: about one address (PROCMAP_QUERY, from Linux 6.11 on; else the next), or for the
  // text of the whole map.
  enum class Way : std::uint8_t { query, text };

  // Of the process that has the number now; see `is_open`.
  explicit AddressMap(pid_t pid, Way way = Way::query);
  bool is_open() const { return static_cast<bool>(maps_); }

  enum class Answer : std::uint8_t { yes, no, unknown, not_yet };

  // Whether each byte from `address` on is in a mapping that can be read, and written if `writable`. Not yet:
  // a portion of the mappings has been looked at; to be called again with the same arguments. Unknown: the
  // map cannot be read.
  Answer covers(std::uint64_t address, std::uint64_t length, bool writable);
  static constexpr std::uint32_t kMappingsPerPortion = 64;

  // Some of those bytes may take any time to come: they are not in memory, but in the file of a file system
  // that has them elsewhere, on a disk or with another program. Pages of such a file that the process has
  // written, of a private mapping, are its own and in memory.
  bool may_wait() const { return may_wait_; }

  // Mappings that the kernel has told of so far.
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
  };

  // What `covers` is asked, and how far it has come.
  struct Question {
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
  // These find the next mapping. Yes: there is one. Unknown: the kernel does not know the question.
  Answer next_by_query(Mapping& mapping);
  Answer next_by_text(Mapping& mapping);
  Answer next(Mapping& mapping);
  Answer go_on();
  // Those bytes of the mapping that are asked for.
  void look_at(const Mapping& mapping);
  bool is_private_copy(std::uint64_t address, std::uint64_t end) const;

  pid_t pid_;
  memory::Descriptor maps_;
  Way way_;
  std::optional<Question> question_;
  std::unique_ptr<FILE, CloseFile> text_;
  bool line_begins_ = true;  // at the text's next byte
  std::uint64_t mappings_told_ = 0;
  bool may_wait_ = false;
};

}  // namespace urnic::control
