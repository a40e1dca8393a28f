// The memory that long messages of a umad file take, of its program's share. It grows and shrinks with them,
// as most files never have one.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "device_model/control/fabric/quotas.hpp"

namespace urnic::control {

class HeldMemory {
 public:
  // Holds nothing at first, and at most `most` bytes.
  HeldMemory(std::shared_ptr<Account> account, std::size_t most)
      : account_(std::move(account)), most_(most) {}

  // From now on so many bytes. False: that is more than there may be, or than the program has room for; then
  // it is as much as before.
  bool hold(std::size_t bytes);

 private:
  static constexpr std::size_t kStep = std::size_t{1} << 20;

  std::shared_ptr<Account> account_;
  std::size_t most_;
  std::vector<Charge> steps_;
};

}  // namespace urnic::control
