// Owns something borrowed: the destructor gives it back.
#pragma once

#include <utility>

namespace urnic::control {

// `Owner` has give_back(Value), and outlives the loan unless `Pointer` shares it.
template <class Owner, class Value, class Pointer = Owner*>
class Loan {
 public:
  Loan() = default;  // of nothing
  Loan(Pointer owner, const Value& value) : owner_(std::move(owner)), value_(value) {}
  Loan(Loan&& other) noexcept { *this = std::move(other); }
  Loan& operator=(Loan&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Loan() {
    if (owner_ != nullptr) owner_->give_back(value_);
  }

  explicit operator bool() const { return owner_ != nullptr; }
  const Value& value() const { return value_; }
  // Nothing is given back any more: the caller does that.
  void release() { owner_ = nullptr; }

 private:
  Pointer owner_ = nullptr;
  Value value_{};
};

}  // namespace urnic::control
