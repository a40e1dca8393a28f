// The send queue of a QP that libmlx5 drives: reads each posted WQE once, copies it, checks the copy.
//
// A WQE takes one block or more. The transport numbers requests one after the other; CQEs name the first
// block of a WQE. So this keeps for each request where it began.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "device_model/abi/mlx5/send_wqe.hpp"
#include "device_model/engine/rings/posted_sends.hpp"
#include "device_model/transport/queue_pair_config.hpp"

namespace urnic::engine::mlx5 {

struct SendRingConfig {
  const std::byte* ring = nullptr;  // may be null without blocks
  std::uint32_t blocks = 0;         // a power of two, at most kMostRingBlocks, or 0
  abi::mlx5::SharedBig32* producer = nullptr;
  transport::QpService service = transport::QpService::rc;
  bool signal_all = false;
};

// So that a producer index, which has 16 bits, says how many blocks are posted.
inline constexpr std::uint32_t kMostRingBlocks = 32768;

class SendRing final : public PostedSends {
 public:
  // The memory outlives this. Other counts of blocks are rounded down to one that is allowed.
  explicit SendRing(const SendRingConfig& config);

  void doorbell() override;
  // Clears the producer index, too: the library does so later, and a doorbell may come before.
  void reset() override;
  bool lied() const override { return lied_; }
  void prefetch_next() const override {
    if (config_.blocks == 0) return;
    __builtin_prefetch(config_.ring + std::size_t{place_of(taken_block_)} * abi::mlx5::kBlockBytes);
  }
  QueuedSends queued() const override;

  bool next(transport::SendRequest& request) override;
  bool pending() const override { return taken_block_ != producer_ && !lied_; }
  // After a failed memory access the transport may retire requests again, in any order.
  void retire(std::uint32_t index) override {
    if (index + 1 - retired_ > taken_ - retired_) return;
    const Taken& last = at(index);
    retired_ = index + 1;
    retired_block_ = static_cast<std::uint16_t>(last.block + last.blocks);
  }

  // What a CQE says of the request at `index`. Valid for `blocks` requests from the oldest one on whose CQE
  // the program has not read: a program that posts more has lost count, and may see a wrong number in a CQE
  // of this queue.
  std::uint16_t counter(std::uint32_t index) const { return at(index).block; }
  abi::mlx5::SendOpcode opcode(std::uint32_t index) const { return at(index).opcode; }

 private:
  struct Taken {
    std::uint16_t block;
    abi::mlx5::SendOpcode opcode;
    std::uint8_t blocks;
  };

  std::uint32_t place_of(std::uint16_t block) const { return block & (config_.blocks - 1); }
  Taken& at(std::uint32_t index) { return requests_[index & (config_.blocks - 1)]; }
  const Taken& at(std::uint32_t index) const { return requests_[index & (config_.blocks - 1)]; }
  void copy(std::uint16_t block, std::size_t offset, std::size_t bytes, std::byte* to) const;
  void take_broken(transport::SendRequest& request, const abi::mlx5::ControlSegment& control);

  SendRingConfig config_;
  bool lied_ = false;
  std::uint16_t producer_ = 0;
  std::uint16_t taken_block_ = 0;
  std::uint16_t retired_block_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;  // all before are complete: their copies may be overwritten
  std::unique_ptr<Taken[]> requests_;
  // A WQE's copy lies where the WQE does. One that goes on at the ring's begin goes on behind the end here.
  // Room that is never used is never touched, so it costs no memory.
  std::unique_ptr<std::byte[]> copies_;
};

}  // namespace urnic::engine::mlx5
