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

  // Mappings that the kernel has told of so far.
  std::uint64_t mappings_told() const { return mappings_told_; }

 private:
  // Unknown if the kernel does not know the question.
  Answer query(std::uint64_t address, bool writable, std::uint64_t& end);
  Answer ask(std::uint64_t address, std::uint64_t end, bool writable);
  Answer read(std::uint64_t address, std::uint64_t end, bool writable);

  memory::Descriptor maps_;
  Way way_;
  std::uint64_t mappings_told_ = 0;
};

}  // namespace urnic::control
