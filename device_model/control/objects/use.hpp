// References between objects; an object in use cannot be destroyed (EBUSY).
#pragma once

#include <cstdint>
#include <utility>

namespace urnic::control {

// Base of an object that other objects use.
class Usable {
 public:
  Usable() = default;
  Usable(const Usable&) = delete;
  Usable& operator=(const Usable&) = delete;

  bool in_use() const { return users_ != 0; }
  std::uint32_t users() const { return users_; }

 private:
  template <class T>
  friend class Use;
  std::uint32_t users_ = 0;
};

// A pointer, possibly null, counted as a use of its object. Does not own the object, which outlives it.
template <class T>
class Use {
 public:
  Use() = default;
  Use(T* object) : object_(object) {
    if (object_ != nullptr) ++object_->users_;
  }
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_ != nullptr) --object_->users_;
  }

  operator T*() const { return object_; }
  T* operator->() const { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace urnic::control
