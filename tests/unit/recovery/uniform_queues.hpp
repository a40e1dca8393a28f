// Work queues of requests that are all alike: posting is counting.
#pragma once

#include <cstdint>

#include "device_model/transport/work_request.hpp"

namespace urnic::transport::lab {

class UniformSendQueue final : public SendQueue {
 public:
  void post(std::uint32_t count) { posted_ += count; }
  // Of all requests that are taken from now on.
  void shape(WorkOpcode opcode, std::uint32_t length) {
    opcode_ = opcode;
    sge_.length = length;
  }
  std::uint32_t posted() const { return posted_; }
  // Numbering starts at 0 again (QP to reset).
  void clear() { posted_ = taken_ = 0; }

  bool next(SendRequest& request) override {
    if (!pending()) return false;
    request = {};
    request.index = taken_++;
    request.opcode = opcode_;
    request.signaled = true;
    request.sges = {&sge_, 1};
    request.length = sge_.length;
    return true;
  }
  bool pending() const override { return taken_ != posted_; }
  void retire(std::uint32_t) override {}

 private:
  WorkOpcode opcode_ = WorkOpcode::rdma_write;
  Sge sge_;
  std::uint32_t posted_ = 0;
  std::uint32_t taken_ = 0;
};

// Receives as long as any message; a queue that is kept full.
class UniformReceiveQueue final : public ReceiveQueue {
 public:
  static constexpr std::uint32_t kPosted = 4096;

  // One was used: another is posted.
  void replenish() { ++posted_; }
  // Full, and numbering starts at 0 again (QP to reset).
  void clear() {
    posted_ = kPosted;
    taken_ = 0;
  }

  bool next(ReceiveRequest& request) override {
    if (available() == 0) return false;
    request = {};
    request.index = taken_++;
    request.sges = {&sge_, 1};
    request.length = sge_.length;
    return true;
  }
  std::uint32_t available() const override { return posted_ - taken_; }
  void retire(std::uint32_t) override {}

 private:
  Sge sge_{.address = 0, .length = 1u << 30, .lkey = {}};
  std::uint32_t posted_ = kPosted;
  std::uint32_t taken_ = 0;
};

}  // namespace urnic::transport::lab
