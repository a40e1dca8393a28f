// A memory window that a peer invalidates and its owner binds again.
#pragma once

#include <cstdint>

#include "tests/apps/programs/memory.hpp"

namespace urnic::apps {

class SoakWindow {
 public:
  // The owner binds it; then the peer may use it, until the peer sends to invalidate it.
  enum class State : std::uint8_t { unbound, binding, bound, doomed };

  // Of type 2, over `covered`, which outlives it. Throws std::runtime_error.
  SoakWindow(ibv_pd* pd, const Memory& covered);
  ~SoakWindow();
  SoakWindow(const SoakWindow&) = delete;
  SoakWindow& operator=(const SoakWindow&) = delete;

  // To be bound, under another key than before; the request for it. Then, when it has completed.
  ibv_send_wr begin_bind();
  void end_bind();

  std::uint32_t rkey() const { return rkey_; }
  State state = State::unbound;

 private:
  const Memory& covered_;
  // Not an owner: ibv_dealloc_mw is a static function, and a class in a header must not depend on one.
  ibv_mw* window_;
  std::uint32_t rkey_;
};

}  // namespace urnic::apps
