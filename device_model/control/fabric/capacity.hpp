// A device's limit for one kind of object, over all programs. Each object holds its share.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "device_model/control/fabric/loan.hpp"

namespace urnic::control {

class Capacity;
using Share = Loan<Capacity, std::uint64_t>;

// Of a Capacity: what objects to come will take.
struct KeptRoom {
  std::uint64_t amount = 0;
  void give_back(std::uint64_t given) { amount -= given; }
};
using Room = Loan<KeptRoom, std::uint64_t>;

// Control thread only.
class Capacity {
 public:
  explicit Capacity(std::uint64_t most) : most_(most) {}
  Capacity(const Capacity&) = delete;
  Capacity& operator=(const Capacity&) = delete;

  // Throws std::system_error with ENOMEM if less than `amount` is left.
  [[nodiscard]] Share take(std::uint64_t amount = 1) {
    if (amount > left()) throw std::system_error(ENOMEM, std::generic_category(), "device limit");
    used_ += amount;
    return {this, amount};
  }
  // Room for one object that is to come: others cannot have it, and it does not count as used. Empty if
  // nothing is left.
  [[nodiscard]] Room keep_room() {
    if (left() == 0) return {};
    ++kept_.amount;
    return {&kept_, 1};
  }
  void give_back(std::uint64_t amount) { used_ -= amount; }
  std::uint64_t used() const { return used_; }

 private:
  std::uint64_t left() const { return most_ - used_ - kept_.amount; }

  const std::uint64_t most_;
  std::uint64_t used_ = 0;
  KeptRoom kept_;
};

}  // namespace urnic::control
