#include "device_model/engine/completion/completion_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace urnic::engine {

namespace {

constexpr std::uint32_t kArmKindMask = 3;

std::uint8_t flags_of(const transport::Completion& completion) {
  std::uint8_t flags = 0;
  if (completion.receive) flags |= abi::cqe_receive;
  if (completion.with_immediate) flags |= abi::cqe_with_immediate;
  if (completion.with_invalidate) flags |= abi::cqe_with_invalidate;
  if (completion.with_grh) flags |= abi::cqe_grh;
  if (completion.over_ipv6) flags |= abi::cqe_over_ipv6;
  return flags;
}

std::uint32_t immediate_or_rkey(const transport::Completion& completion) {
  if (!completion.with_immediate) return completion.invalidated.value;
  std::uint32_t value;
  std::memcpy(&value, completion.immediate.bytes.data(), sizeof value);
  return value;
}

std::uint32_t error_or_route(const transport::Completion& completion) {
  const transport::LocalRoute& route = completion.local_route;
  if (completion.status != transport::WorkStatus::success) return completion.vendor_error;
  return abi::pack_local_route(route.source_lid, route.service_level, route.path_bits);
}

}  // namespace

// The first lap's entries are valid with phase 1 (queues.hpp, Cqe).
std::uint8_t CompletionRing::phase(std::uint32_t index) const { return (index & config_.slots) == 0 ? 1 : 0; }

bool CompletionRing::full() {
  if (producer_ - consumer_ < config_.slots) return false;
  consumer_ = config_.indices->consumer.load(std::memory_order_acquire);
  return producer_ - consumer_ >= config_.slots;
}

bool CompletionRing::write(const transport::Completion& completion, std::uint32_t shared_receive_queue) {
  if (full()) [[unlikely]]
    return false;
  abi::Cqe& entry = config_.ring[producer_ & (config_.slots - 1)];
  entry.qpn = completion.qpn.value;
  entry.wqe_index = completion.wqe_index;
  entry.opcode = static_cast<std::uint8_t>(completion.opcode);
  entry.status = static_cast<std::uint8_t>(completion.status);
  entry.flags = flags_of(completion);
  entry.byte_length = completion.byte_length;
  entry.immediate_or_rkey = immediate_or_rkey(completion);
  entry.error_or_route = error_or_route(completion);
  entry.source_qpn = completion.source.value;
  if (!completion.data.empty()) {
    entry.flags |= abi::cqe_inline;
    std::memcpy(entry.inline_data, completion.data.data(),
                std::min<std::size_t>(completion.data.size(), abi::kCqeInlineBytes));
  }
  if (config_.clock != nullptr) {
    entry.flags |= abi::cqe_timestamp;
    const std::uint64_t now = config_.clock();
    std::memcpy(entry.inline_data, &now, sizeof now);
  }
  if (shared_receive_queue != 0) {
    entry.flags |= abi::cqe_shared_receive;
    abi::set_shared_receive_queue(entry, shared_receive_queue);
  }
  entry.phase.store(phase(producer_), std::memory_order_release);
  ++producer_;
  return true;
}

bool CompletionRing::write_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                                  std::uint8_t flags, const abi::TagInfo& info) {
  if (full()) return false;
  abi::Cqe& entry = config_.ring[producer_ & (config_.slots - 1)];
  entry.tag_flags = flags;
  std::memcpy(entry.inline_data + abi::kTagInfoOffset, &info, sizeof info);
  return write(completion, shared_receive_queue);
}

abi::ArmKind CompletionRing::armed() {
  arm_seen_ = config_.indices->arm.load(std::memory_order_relaxed);
  if (arm_seen_ == arm_fired_) return abi::ArmKind::none;
  return static_cast<abi::ArmKind>(arm_seen_ & kArmKindMask);
}

void CompletionRing::fired() {
  arm_fired_ = arm_seen_;
  config_.indices->arm_fired.store(arm_seen_, std::memory_order_release);
}

// Trusts the program's consumer index within the bounds of the old ring.
void CompletionRing::begin_move(void* ring, std::uint32_t slots) {
  const std::uint32_t consumer = config_.indices->consumer.load(std::memory_order_acquire);
  const std::uint32_t begin = producer_ - std::min(producer_ - consumer, config_.slots);
  new_ring_ = {static_cast<abi::Cqe*>(ring), slots, begin, begin};
}

CompletionRing::Moved CompletionRing::move(std::uint32_t most) {
  const std::uint32_t unread = producer_ - new_ring_.begin;
  if (unread > new_ring_.slots) return Moved::does_not_fit;
  for (; new_ring_.next != producer_ && most > 0; ++new_ring_.next, --most) {
    const abi::Cqe& from = config_.ring[new_ring_.next & (config_.slots - 1)];
    abi::Cqe& to = new_ring_.ring[new_ring_.next - new_ring_.begin];
    std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), offsetof(abi::Cqe, phase));
    to.phase.store(1, std::memory_order_release);
  }
  if (new_ring_.next != producer_) return Moved::more;
  config_.ring = new_ring_.ring;
  config_.slots = new_ring_.slots;
  producer_ = unread;
  consumer_ = 0;
  config_.indices->consumer.store(0, std::memory_order_release);
  return Moved::all;
}

}  // namespace urnic::engine
