// Memory that attackers register: it goes, changes and comes back while the device uses it. This process
// itself neither reads nor writes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/security/device_fuzz/chance.hpp"

namespace urnic::device_fuzz {

class OwnMemory {
 public:
  static constexpr std::size_t kBytes = 4 << 20;
  explicit OwnMemory(Chance& chance);

  // A random range of the memory.
  std::uint64_t address() const;
  std::uint64_t length() const;
  // Unmaps a part, or maps another kind of memory there.
  void disturb();

 private:
  Chance& chance_;
  std::byte* data_;
};

}  // namespace urnic::device_fuzz
