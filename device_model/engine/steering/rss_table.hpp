// Receive side scaling: a hash of a frame's fields chooses one of several work queues, so that frames of one
// flow go to one queue, in order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device_model/engine/steering/frame_headers.hpp"

namespace urnic::engine {

class QueuePairContext;

// The values are those of ibv_rx_hash_fields.
enum HashField : std::uint64_t {
  hash_source_ipv4 = 1 << 0,
  hash_destination_ipv4 = 1 << 1,
  hash_source_ipv6 = 1 << 2,
  hash_destination_ipv6 = 1 << 3,
  hash_source_port_tcp = 1 << 4,
  hash_destination_port_tcp = 1 << 5,
  hash_source_port_udp = 1 << 6,
  hash_destination_port_udp = 1 << 7,
};
inline constexpr std::uint64_t kHashFields = (1 << 8) - 1;

inline constexpr std::size_t kToeplitzKeyBytes = 40;
using ToeplitzKey = std::array<std::uint8_t, kToeplitzKeyBytes>;

// The Toeplitz hash of those `fields` (HashField values) that the frame has, in the order source address,
// destination address, source port, destination port. 0 if the frame has none of them.
std::uint32_t toeplitz_hash(const ToeplitzKey& key, std::uint64_t fields, const FrameHeaders& frame);

class RssTable {
 public:
  // The lowest bits of the hash choose one of `queues`: a power of two of entries, which outlive this.
  RssTable(const ToeplitzKey& key, std::uint64_t fields, std::vector<QueuePairContext*> queues);

  std::uint32_t hash_of(const FrameHeaders& frame) const { return toeplitz_hash(key_, fields_, frame); }
  QueuePairContext& queue_for(std::uint32_t hash) const { return *queues_[hash & (queues_.size() - 1)]; }

 private:
  const ToeplitzKey key_;
  const std::uint64_t fields_;
  const std::vector<QueuePairContext*> queues_;
};

}  // namespace urnic::engine
