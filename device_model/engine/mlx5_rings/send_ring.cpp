#include "device_model/engine/mlx5_rings/send_ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device_model/engine/mlx5_rings/send_segments.hpp"
#include "device_model/engine/rings/slot_copies.hpp"

namespace urnic::engine::mlx5 {

using abi::mlx5::ControlSegment;
using abi::mlx5::kBlockBytes;
using abi::mlx5::kUnitBytes;

SendRing::SendRing(const SendRingConfig& config) : config_(config) {
  config_.blocks = std::bit_floor(std::min(config.blocks, kMostRingBlocks));
  if (config_.blocks == 0) return;
  const std::size_t bytes = std::size_t{config_.blocks + abi::mlx5::kMostBlocks - 1} * kBlockBytes;
  requests_.reset(new Taken[config_.blocks]);
  copies_.reset(new std::byte[bytes]);
}

void SendRing::doorbell() {
  if (config_.blocks == 0 || lied_) return;
  const auto producer = static_cast<std::uint16_t>(config_.producer->load(std::memory_order_acquire));
  const auto posted = static_cast<std::uint16_t>(producer - retired_block_);
  // More would overwrite copies that are in use. A producer index that went back shows as a huge difference,
  // or as fewer blocks than were taken.
  if (posted > config_.blocks || posted < static_cast<std::uint16_t>(taken_block_ - retired_block_)) {
    lied_ = true;
    return;
  }
  producer_ = producer;
}

void SendRing::reset() {
  lied_ = false;
  producer_ = taken_block_ = retired_block_ = 0;
  taken_ = retired_ = 0;
  if (config_.blocks != 0) config_.producer->store(0, std::memory_order_relaxed);
}

// Copies bytes of the WQE that begins at `block`, from `offset` in it on.
void SendRing::copy(std::uint16_t block, std::size_t offset, std::size_t bytes, std::byte* to) const {
  const std::size_t ring = std::size_t{config_.blocks} * kBlockBytes;
  const std::size_t from = (std::size_t{place_of(block)} * kBlockBytes + offset) % ring;
  const std::size_t before_end = std::min(bytes, ring - from);
  std::memcpy(to, config_.ring + from, before_end);
  if (bytes != before_end) std::memcpy(to + before_end, config_.ring, bytes - before_end);
  forget_shared_memory();
}

// Where the next WQE begins nobody knows: the queue ends here.
void SendRing::take_broken(transport::SendRequest& request, const ControlSegment& control) {
  decode_control(control, request);
  request.opcode = transport::WorkOpcode::send;
  request.malformed = true;
  at(request.index).blocks = 1;
  ++taken_block_;
  lied_ = true;
}

bool SendRing::next(transport::SendRequest& request) {
  if (!pending()) return false;
  std::byte* const wqe = copies_.get() + std::size_t{place_of(taken_block_)} * kBlockBytes;
  copy(taken_block_, 0, sizeof(ControlSegment), wqe);
  ControlSegment control;
  std::memcpy(&control, wqe, sizeof control);

  request.index = taken_++;
  Taken& taken = at(request.index);
  taken.block = taken_block_;
  taken.opcode = control.opcode();
  const std::uint32_t bytes = control.units() * kUnitBytes;
  const std::uint32_t blocks = (bytes + kBlockBytes - 1) / kBlockBytes;
  if (blocks == 0 || blocks > static_cast<std::uint16_t>(producer_ - taken_block_)) {
    take_broken(request, control);
  } else {
    taken.blocks = static_cast<std::uint8_t>(blocks);
    copy(taken_block_, sizeof control, bytes - sizeof control, wqe + sizeof control);
    decode_send({wqe, bytes}, taken_block_, config_.service, request);
    taken_block_ = static_cast<std::uint16_t>(taken_block_ + blocks);
  }
  if (config_.signal_all) request.signaled = true;
  return true;
}

}  // namespace urnic::engine::mlx5
