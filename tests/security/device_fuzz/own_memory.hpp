// Memory that attackers register: it goes, changes and comes back while the device uses it. Nothing of this
// process reads or writes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/security/device_fuzz/chance.hpp"

namespace urnic::device_fuzz {

class OwnMemory {
 public:
  static constexpr std::size_t kBytes = 4 << 20;
  explicit OwnMemory(Chance& chance);

  // A range of it.
  std::uint64_t address() const;
  std::uint64_t length() const;
  // Takes a part away, or puts another kind of memory there.
  void disturb();

 private:
  Chance& chance_;
  std::byte* data_;
};

}  // namespace urnic::device_fuzz
