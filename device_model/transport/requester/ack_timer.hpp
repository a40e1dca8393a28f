// The local ACK timer: runs while a response is expected, restarts with every progress (IBTA 9.7.6.1.3).
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

class AckTimer {
 public:
  // `code` as in QpParameters::timeout: 4.096 us * 2^code, 0: never runs out. Only the five low bits count.
  void set_code(std::uint8_t code) { code_ = code & 0x1F; }

  void start(Time now) {
    running_ = true;
    if (code_ != 0) deadline_ = now + interval();
  }
  void stop() { running_ = false; }
  bool running() const { return running_; }

  // max() if it never runs out.
  Nanoseconds interval() const {
    return code_ == 0 ? Nanoseconds::max() : Nanoseconds(std::int64_t{4096} << code_);
  }
  std::optional<Time> deadline() const {
    if (!running_ || code_ == 0) return std::nullopt;
    return deadline_;
  }
  bool expired(Time now) const { return running_ && code_ != 0 && now >= deadline_; }

 private:
  std::uint8_t code_ = 0;
  bool running_ = false;
  Time deadline_;
};

}  // namespace urnic::transport
