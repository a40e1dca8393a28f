// The doorbell numbers of a context, and which are in use.
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <vector>

#include "device_model/abi/doorbells.hpp"
#include "device_model/control/fabric/loan.hpp"

namespace urnic::control {

class DoorbellNumbers;
using DoorbellNumber = Loan<DoorbellNumbers, std::uint32_t>;

// Control thread only.
class DoorbellNumbers {
 public:
  // Throws std::system_error with ENOMEM when all are in use.
  [[nodiscard]] DoorbellNumber take() {
    if (!free_.empty()) {
      const std::uint32_t number = free_.back();
      free_.pop_back();
      return {this, number};
    }
    if (next_ == abi::kDoorbellsPerContext)
      throw std::system_error(ENOMEM, std::generic_category(), "doorbells of the context");
    return {this, next_++};
  }
  void give_back(std::uint32_t number) { free_.push_back(number); }

 private:
  std::uint32_t next_ = 0;  // this number and higher ones were never taken
  std::vector<std::uint32_t> free_;
};

}  // namespace urnic::control
