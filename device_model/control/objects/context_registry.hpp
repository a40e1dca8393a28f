// Contexts that are alive, so that a forked child can find its parent's and status displays can list them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device_model/abi/control.hpp"

namespace urnic::control {

class Context;

class ContextRegistry {
 public:
  // Takes note of a context; connections own it.
  void add(const std::shared_ptr<Context>& context);
  // Null if no context has this token, or the one that has it is being taken down.
  std::shared_ptr<Context> find(const abi::ContextToken& token) const;
  std::vector<std::shared_ptr<Context>> all() const;
  bool empty() const;
  // Numbers for people: 1, 2, 3, …
  std::uint32_t next_id() { return next_id_++; }

 private:
  std::vector<std::weak_ptr<Context>> contexts_;
  std::uint32_t next_id_ = 1;
};

// 16 bytes that nobody guesses. Throws std::system_error.
abi::ContextToken make_token();

}  // namespace urnic::control
