// What the rings hold now, for people.
#include <array>
#include <cstring>

#include "device_model/engine/mlx5_rings/receive_ring.hpp"
#include "device_model/engine/mlx5_rings/scatter_list.hpp"
#include "device_model/engine/mlx5_rings/send_ring.hpp"
#include "device_model/engine/mlx5_rings/send_segments.hpp"

namespace urnic::engine::mlx5 {

using abi::mlx5::ControlSegment;

// WQEs are counted by walking over them; a program may have written any size into them.
QueuedSends SendRing::queued() const {
  QueuedSends queued{{config_.blocks, taken_, taken_, retired_}, {}};
  if (config_.blocks == 0) return queued;
  const auto end = static_cast<std::uint16_t>(config_.producer->load(std::memory_order_acquire));
  if (static_cast<std::uint16_t>(end - retired_block_) > config_.blocks) return queued;
  alignas(16) std::array<std::byte, std::size_t{abi::mlx5::kMostUnits} * abi::mlx5::kUnitBytes> wqe;
  std::uint32_t index = retired_;
  std::uint16_t block = retired_block_;
  while (block != end && index - retired_ < config_.blocks) {
    copy(block, 0, sizeof(ControlSegment), wqe.data());
    ControlSegment control;
    std::memcpy(&control, wqe.data(), sizeof control);
    const std::uint32_t bytes = control.units() * abi::mlx5::kUnitBytes;
    const std::uint32_t blocks = (bytes + abi::mlx5::kBlockBytes - 1) / abi::mlx5::kBlockBytes;
    if (blocks == 0 || blocks > static_cast<std::uint16_t>(end - block)) break;
    if (queued.wqes.size() < kMostShownWqes) {
      copy(block, sizeof control, bytes - sizeof control, wqe.data() + sizeof control);
      QueuedSend& shown = queued.wqes.emplace_back();
      shown.request.index = index;
      decode_send({wqe.data(), bytes}, block, config_.service, shown.request);
      if (config_.signal_all) shown.request.signaled = true;
      shown.segments = static_cast<std::uint32_t>(shown.request.sges.size());
      shown.request.sges = {};
      shown.request.inline_data = {};
    }
    block = static_cast<std::uint16_t>(block + blocks);
    ++index;
  }
  queued.indices.producer = index;
  return queued;
}

QueuedReceives ReceiveRing::queued() const {
  QueuedReceives queued{{config_.slots, retired_, taken_, retired_}, {}};
  if (config_.slots == 0) return queued;
  const std::uint32_t published = config_.producer->load(std::memory_order_acquire);
  queued.indices.producer = retired_ + static_cast<std::uint16_t>(published - retired_);
  std::vector<std::byte> wqe(config_.stride);
  for (std::uint32_t i = 0; i < queued.indices.shown(); ++i) {
    copy(retired_ + i, wqe.data());
    transport::ReceiveRequest request;
    decode_scatter_list(wqe, request);
    queued.wqes.push_back({.index = retired_ + i,
                           .segments = static_cast<std::uint32_t>(request.sges.size()),
                           .length = request.length});
  }
  return queued;
}

}  // namespace urnic::engine::mlx5
