// What a process has mapped, by the kernel's word (/proc/PID/maps).
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// The ioctl by which a maps file of /proc is asked about one mapping (PROCMAP_QUERY, Linux 6.11).
inline constexpr unsigned long kProcmapQuery = 0xC0686611;

class AddressMap {
 public:
  // How the kernel is asked: about one address (PROCMAP_QUERY, from Linux 6.11 on; else the next), or for the
  // text of the whole map.
  enum class Way : std::uint8_t { query, text };

  // Of the process that has the number now; see `is_open`.
  explicit AddressMap(pid_t pid, Way way = Way::query);
  bool is_open() const { return static_cast<bool>(maps_); }

  enum class Answer : std::uint8_t { yes, no, unknown };

  // Whether each byte from `address` on is in a mapping that can be read, and written if `writable`. Unknown
  // after kMostMappings of them: registration is told early of a mistake that each later access would find,
  // and the control thread has no more time than that for one program.
  Answer covers(std::uint64_t address, std::uint64_t length, bool writable);
  static constexpr std::uint32_t kMostMappings = 4096;

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

  static bool parse(const char* line, Mapping& mapping);
  // Unknown if the kernel does not know the question.
  Answer query(std::uint64_t address, bool writable, Mapping& mapping);
  Answer ask(std::uint64_t address, std::uint64_t end, bool writable);
  Answer read(std::uint64_t address, std::uint64_t end, bool writable);
  // Those bytes of the mapping are asked for.
  void look_at(const Mapping& mapping, std::uint64_t address, std::uint64_t end);
  bool is_private_copy(std::uint64_t address, std::uint64_t end) const;

  pid_t pid_;
  memory::Descriptor maps_;
  Way way_;
  std::uint64_t mappings_told_ = 0;
  bool may_wait_ = false;
};

}  // namespace urnic::control
