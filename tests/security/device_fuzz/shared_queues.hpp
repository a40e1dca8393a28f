// A context's memory that is shared with the device, mapped here: arenas by number, and the places of the
// control words.
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

// Ranges that a second thread writes nonsense to. Mappings stay until the process ends, so the thread also
// writes to a range that the device has given to another object since.
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

  // From now on `find` looks for ranges of `answer`. New arenas use up its descriptors in order. `answer`
  // must stay valid meanwhile.
  void look_in(const ControlReply& answer);
  // The range's memory; empty if it is not mapped.
  std::span<std::byte> find(const abi::ArenaRange& range);
  // Maps all memory of a descriptor.
  std::span<std::byte> map(int descriptor, std::size_t length);

 private:
  Targets& targets_;
  std::map<std::uint32_t, std::span<std::byte>> arenas_;
  const ControlReply* answer_ = nullptr;
  std::size_t next_descriptor_ = 0;
};

}  // namespace urnic::device_fuzz
