// The live contexts: a forked child finds its parent's context here, and status displays list them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device_model/abi/control.hpp"

namespace urnic::control {

class Context;
struct ServedDevice;

class ContextRegistry {
 public:
  // Registers a context; connections own it.
  void add(const std::shared_ptr<Context>& context);
  // Null if no context has this token, or if it is being destroyed.
  std::shared_ptr<Context> find(const abi::ContextToken& token) const;
  std::vector<std::shared_ptr<Context>> all() const;
  // Those on the device that are not being destroyed.
  std::vector<std::shared_ptr<Context>> in_service(const ServedDevice& device) const;
  bool empty() const;
  // Numbers for display: 1, 2, 3, …
  std::uint32_t next_id() { return next_id_++; }
  // How many contexts there have been.
  std::uint32_t opened() const { return next_id_ - 1; }

 private:
  std::vector<std::weak_ptr<Context>> contexts_;
  std::uint32_t next_id_ = 1;
};

// 16 random bytes, which nobody can guess. Throws std::system_error.
abi::ContextToken make_token();

}  // namespace urnic::control
