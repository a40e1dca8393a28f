// What a context shares with the device, mapped here: arenas by number, and where the control words are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "device_model/abi/control.hpp"
#include "tests/security/device_fuzz/connection.hpp"

namespace urnic::device_fuzz {

// Ranges that a second thread writes nonsense to. Mappings stay until the process ends, so a range that the
// device has given to another object since is written to all the same.
class Targets {
 public:
  void add(std::span<std::byte> range);
  // A random one; empty if there is none.
  std::span<std::byte> any(std::uint64_t random);

 private:
  std::mutex mutex_;
  std::vector<std::span<std::byte>> ranges_;
};

class SharedQueues {
 public:
  explicit SharedQueues(Targets& targets) : targets_(targets) {}

  // From here on ranges of `answer` are looked for, whose descriptors are used up in order by arenas that are
  // new. It must live as long.
  void look_in(const Answer& answer);
  // Empty if the range is not there.
  std::span<std::byte> find(const abi::ArenaRange& range);
  // All of a descriptor's memory.
  std::span<std::byte> map(int descriptor, std::size_t length);

 private:
  Targets& targets_;
  std::map<std::uint32_t, std::span<std::byte>> arenas_;
  const Answer* answer_ = nullptr;
  std::size_t next_descriptor_ = 0;
};

}  // namespace urnic::device_fuzz
