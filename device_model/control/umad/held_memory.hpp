// The memory that long messages of a umad file take, of its program's share. It grows and shrinks with them,
// as most files never have one.
#pragma once

#include <cstddef>
#include <memory>

#include "device_model/control/fabric/quotas.hpp"

namespace urnic::control {

class HeldMemory {
 public:
  // Holds nothing at first, and at most `most` bytes.
  HeldMemory(std::shared_ptr<Account> account, std::size_t most)
      : account_(std::move(account)), most_(most) {}
  ~HeldMemory() { shrink(0); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  // From now on so many bytes. False: that is more than there may be, or than the program has room for; then
  // it is as much as before. Fewer are always allowed.
  bool hold(std::size_t bytes);
  // The same for what the program has asked for: without room, it is refused that (Quotas::refusals).
  bool hold_as_asked(std::size_t bytes);

 private:
  bool grow(std::size_t held);
  void shrink(std::size_t held);

  std::shared_ptr<Account> account_;
  std::size_t most_;
  std::size_t held_ = 0;
};

}  // namespace urnic::control
