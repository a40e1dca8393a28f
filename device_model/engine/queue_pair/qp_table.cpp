#include "device_model/engine/queue_pair/qp_table.hpp"

#include <algorithm>
#include <bit>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint32_t kQpnBits = 24;
constexpr std::uint32_t kMaxIndexBits = 20;
constexpr std::uint32_t kFirstQpn = 2;

bool has_generations(std::uint32_t queue_pairs) { return queue_pairs >= QpTable::kLeastWithGenerations; }

std::uint32_t bits_for(std::uint32_t queue_pairs) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(std::max(queue_pairs, 1u) - 1));
  return std::min(bits, kMaxIndexBits);
}

}  // namespace

std::uint32_t QpTable::capacity(std::uint32_t max_queue_pairs) {
  if (has_generations(max_queue_pairs)) return std::min(max_queue_pairs, 1u << kMaxIndexBits);
  return max_queue_pairs > kFirstQpn ? max_queue_pairs - kFirstQpn : 0;
}

QpTable::QpTable(std::uint32_t max_queue_pairs, memory::NumberSeed seed)
    : index_bits_(bits_for(max_queue_pairs)),
      generations_(has_generations(max_queue_pairs) ? 1u << (kQpnBits - index_bits_) : 1),
      entries_(std::size_t{1} << index_bits_),
      free_(capacity(max_queue_pairs)),
      free_count_(static_cast<std::uint32_t>(free_.size())),
      generation_(entries_.size()) {
  // With generations the indices of reserved numbers are used, too, with a later generation. Without a seed
  // they come last.
  using memory::NumberDraw;
  const std::uint32_t lowest = generations_ > 1 ? 0 : kFirstQpn;
  const auto first = kFirstQpn - lowest + static_cast<std::uint32_t>(seed.bits(NumberDraw::qp_index));
  for (std::uint32_t i = 0; i < free_count_; ++i) {
    const std::uint32_t index = lowest + (i + first) % free_count_;
    free_[i] = index;
    generation_[index] = static_cast<std::uint32_t>(seed.bits(NumberDraw::qp_generation, index));
  }
}

std::optional<wire::Qpn> QpTable::reserve() {
  const std::lock_guard lock(reservation_);
  if (free_count_ == 0) return std::nullopt;
  const std::uint32_t index = free_[free_begin_];
  free_begin_ = (free_begin_ + 1) % static_cast<std::uint32_t>(free_.size());
  --free_count_;
  for (;;) {
    const std::uint32_t generation = generation_[index]++ & (generations_ - 1);
    const std::uint32_t number = generation << index_bits_ | index;
    if (number >= kFirstQpn && number != wire::kMulticastQpn.value) return wire::Qpn{number};
  }
}

void QpTable::release(wire::Qpn qpn) {
  const std::lock_guard lock(reservation_);
  free_[(free_begin_ + free_count_) % free_.size()] = index(qpn);
  ++free_count_;
}

void QpTable::install(QueuePairContext& queue_pair) { entries_[index(queue_pair.qpn())] = &queue_pair; }

void QpTable::remove(const QueuePairContext& queue_pair) { entries_[index(queue_pair.qpn())] = nullptr; }

QueuePairContext* QpTable::find(wire::Qpn qpn) const {
  QueuePairContext* const found = entries_[index(qpn)];
  return found != nullptr && found->qpn() == qpn ? found : nullptr;
}

}  // namespace urnic::engine
