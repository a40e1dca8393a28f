#include "device_model/engine/mlx5_rings/completion_ring.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace urnic::engine::mlx5 {
namespace {

using abi::mlx5::Big16;
using abi::mlx5::Big32;
using abi::mlx5::Big64;
using abi::mlx5::CompletionOpcode;
using abi::mlx5::Cqe;
using abi::mlx5::kNoRequest;
using abi::mlx5::NetworkHeader;
using abi::mlx5::Syndrome;
using abi::mlx5::TransportHeader;
using transport::Completion;
using transport::WorkStatus;

constexpr std::uint32_t kNoNumber = 4;  // no request has it
constexpr std::uint32_t kQpnMask = 0xFFFFFF;

// Linux and UCX read in a datagram's service level which IP carried it.
constexpr std::uint32_t kOverIpv6 = 0x9u << 24;
constexpr std::uint32_t kOverIpv4 = 0xAu << 24;
constexpr std::uint32_t kWithGrh = 1u << 28;

Syndrome syndrome_of(WorkStatus status) {
  switch (status) {
    case WorkStatus::local_length_error:
      return Syndrome::local_length;
    case WorkStatus::local_qp_operation_error:
      return Syndrome::local_operation;
    case WorkStatus::local_protection_error:
      return Syndrome::local_protection;
    case WorkStatus::flushed:
      return Syndrome::flushed;
    case WorkStatus::memory_window_bind_error:
      return Syndrome::window_bind;
    case WorkStatus::bad_response_error:
      return Syndrome::bad_response;
    case WorkStatus::local_access_error:
      return Syndrome::local_access;
    case WorkStatus::remote_invalid_request_error:
      return Syndrome::remote_invalid_request;
    case WorkStatus::remote_access_error:
      return Syndrome::remote_access;
    case WorkStatus::remote_operation_error:
      return Syndrome::remote_operation;
    case WorkStatus::retry_exceeded:
      return Syndrome::retries_exceeded;
    case WorkStatus::rnr_retry_exceeded:
      return Syndrome::receiver_not_ready;
    case WorkStatus::success:
    case WorkStatus::tag_matching_error:
    case WorkStatus::rendezvous_incomplete:
      break;
  }
  return Syndrome::remote_aborted;
}

CompletionOpcode opcode_of(const Completion& completion) {
  const bool failed = completion.status != WorkStatus::success;
  if (!completion.receive) return failed ? CompletionOpcode::request_error : CompletionOpcode::request;
  if (failed) return CompletionOpcode::receive_error;
  if (completion.opcode == transport::CompletionOpcode::receive_rdma_with_immediate) {
    return CompletionOpcode::received_write_immediate;
  }
  if (completion.with_immediate) return CompletionOpcode::received_send_immediate;
  return completion.with_invalidate ? CompletionOpcode::received_send_invalidate
                                    : CompletionOpcode::received_send;
}

void describe_message(const Completion& completion, Cqe& entry) {
  std::uint32_t source = completion.source.value & kQpnMask;
  if (completion.with_grh) {
    source |= kWithGrh | (completion.over_ipv6 ? kOverIpv6 : kOverIpv4);
    const NetworkHeader header = completion.over_ipv6 ? NetworkHeader::ipv6 : NetworkHeader::ipv4;
    entry.header_types = static_cast<std::uint8_t>(header);
  }
  entry.source = Big32(source);
  if (completion.with_immediate) {
    std::memcpy(entry.immediate, completion.immediate.bytes.data(), sizeof entry.immediate);
  } else if (completion.with_invalidate) {
    const Big32 rkey(completion.invalidated.value);
    std::memcpy(entry.immediate, &rkey, sizeof rkey);
  }
}

std::uint8_t header_types_of(const transport::FrameFacts& facts) {
  const auto has = [&](transport::FrameLayer layer) { return (facts.layers & layer) != 0; };
  NetworkHeader network = NetworkHeader::none;
  if (has(transport::layer_ipv4)) network = NetworkHeader::ipv4;
  if (has(transport::layer_ipv6)) network = NetworkHeader::ipv6;
  TransportHeader above = TransportHeader::none;
  if (has(transport::layer_tcp)) above = TransportHeader::tcp;
  if (has(transport::layer_udp)) above = TransportHeader::udp;
  // A part of an IP packet is that, whatever it begins with.
  const bool is_part = has(transport::layer_fragment);
  if (is_part) above = TransportHeader::none;
  return static_cast<std::uint8_t>(static_cast<unsigned>(network) | static_cast<unsigned>(above) |
                                   (is_part ? abi::mlx5::kFragment : 0u));
}

void describe_frame(const transport::FrameFacts& facts, Cqe& entry) {
  if (facts.layers == 0) return;
  entry.flow_hash = Big32(facts.hash);
  entry.header_types = header_types_of(facts);
  if (facts.right.network) entry.checksums |= abi::mlx5::kNetworkChecksumIsRight;
  if (facts.right.transport) entry.checksums |= abi::mlx5::kTransportChecksumIsRight;
}

void describe_error(const Completion& completion, Cqe& entry) {
  auto* const bytes = reinterpret_cast<std::uint8_t*>(&entry);
  bytes[abi::mlx5::kVendorSyndromeOffset] = static_cast<std::uint8_t>(completion.vendor_error);
  bytes[abi::mlx5::kSyndromeOffset] = static_cast<std::uint8_t>(syndrome_of(completion.status));
}

// `entry` in one go, but its last word, which says whose it is, behind all others.
void store(std::byte* to, const Cqe& entry) {
  constexpr std::size_t last = sizeof entry - sizeof(std::uint64_t);
  std::uint64_t word;
  std::memcpy(&word, reinterpret_cast<const std::byte*>(&entry) + last, sizeof word);
  std::memcpy(to, &entry, last);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(to + last)).store(word, std::memory_order_release);
}

}  // namespace

CompletionRing::CompletionRing(const CompletionRingConfig& config)
    : config_(config),
      number_answered_(kNoNumber),
      number_of_any_(kNoNumber),
      number_of_solicited_(kNoNumber) {
  config_.slots = std::bit_floor(std::min(config.slots, kMostCqes));
  config_.doorbells->request.store(kNoRequest, std::memory_order_relaxed);
}

bool CompletionRing::full() {
  if (producer_ - consumer_ < config_.slots) return false;
  read_consumer();
  return producer_ - consumer_ >= config_.slots;
}

// After a move the record may be behind what is known (CompletionRing::move).
void CompletionRing::read_consumer() {
  const std::uint32_t unread_now = unread(config_.doorbells->consumer.load(std::memory_order_acquire));
  consumer_ = producer_ - std::min(unread_now, producer_ - consumer_);
}

void CompletionRing::put(Cqe& entry, CompletionOpcode opcode, bool solicited) {
  const std::uint32_t slot = producer_ & (config_.slots - 1);
  const bool odd_lap = (producer_ & config_.slots) != 0;
  entry.opcode_and_owner = static_cast<std::uint8_t>(
      static_cast<unsigned>(opcode) << 4 | (solicited ? abi::mlx5::kCqeSolicited : 0u) | (odd_lap ? 1u : 0u));
  store(config_.ring + std::size_t{slot} * config_.cqe_bytes + (config_.cqe_bytes - sizeof entry), entry);
  ++producer_;
  if (solicited) solicited_end_ = producer_;
}

bool CompletionRing::write(const Completion& completion, std::uint32_t shared_receive_queue) {
  if (full()) [[unlikely]]
    return false;
  const std::uint32_t* const xrc =
      shared_receive_queue != 0 ? config_.queues->find_xrc(shared_receive_queue) : nullptr;
  const CompletedQueue* const queue = xrc == nullptr ? config_.queues->find(completion.qpn) : nullptr;
  if (xrc == nullptr && queue == nullptr) [[unlikely]]
    return true;

  Cqe entry{};
  entry.owner = Big32(xrc != nullptr ? *xrc : queue->user_index);
  std::uint32_t numbers = completion.qpn.value & kQpnMask;
  auto counter = static_cast<std::uint16_t>(completion.wqe_index);
  if (!completion.receive && queue != nullptr && queue->sends != nullptr) {
    numbers |= static_cast<std::uint32_t>(queue->sends->opcode(completion.wqe_index)) << 24;
    counter = queue->sends->counter(completion.wqe_index);
  }
  entry.queue_pair = Big32(numbers);
  entry.wqe_counter = Big16(counter);
  entry.byte_count = Big32(completion.byte_length);
  if (config_.clock != nullptr)
    entry.timestamp = Big64(config_.exact_times ? config_.clock->now() : config_.clock->of_round());
  if (completion.receive) {
    describe_message(completion, entry);
    describe_frame(completion.facts, entry);
  }
  if (completion.status != WorkStatus::success) describe_error(completion, entry);
  put(entry, opcode_of(completion), completion.solicited);
  return true;
}

// A request for solicited completions does not weaken one of the same number for any completion (IBTA
// 11.4.2.2). The record has the last one only, so that the other is remembered by its number. A ConnectX
// gets each request by a store of its own, and keeps in the CQ's context what it is armed for. Where one may
// be hidden it counts as made: an event too many harms less than one too few.
abi::ArmKind CompletionRing::see_request(std::uint32_t request) {
  const std::uint32_t number = abi::mlx5::request_number(request);
  if (request == kNoRequest || number == number_answered_) return abi::ArmKind::none;
  const bool solicited = (request & abi::mlx5::kRequestSolicited) != 0;
  if (solicited) {
    asked_ = Asked::both;
  } else if (asked_ == Asked::nothing) {
    asked_ = Asked::any;
  }
  if (solicited && number != number_of_any_ && (!may_hide_ || number == number_of_solicited_)) {
    number_of_solicited_ = number;
    return abi::ArmKind::solicited;
  }
  number_of_any_ = number;
  return abi::ArmKind::next;
}

abi::ArmKind CompletionRing::armed() {
  request_seen_ = config_.doorbells->request.load(std::memory_order_relaxed);
  return see_request(request_seen_);
}

// A request that the program makes at this moment stays.
void CompletionRing::fired() {
  if (request_seen_ == kNoRequest) return;
  number_answered_ = abi::mlx5::request_number(request_seen_);
  number_of_any_ = number_of_solicited_ = kNoNumber;
  notified_end_ = producer_;
  config_.doorbells->request.exchange(request_seen_, kNoRequest);
}

// CQEs of which the program has had an event make none again, whether or not it has read them: perftest asks
// for the next event before it reads. (A ConnectX keeps their index, too: last_notified_index in its CQ
// context.)
bool CompletionRing::is_behind() {
  const std::uint32_t request = config_.doorbells->request.load(std::memory_order_relaxed);
  const abi::ArmKind kind = see_request(request);
  if (kind == abi::ArmKind::none) return false;
  const std::uint32_t unread_then = unread(request);
  if (unread_then > config_.slots) return false;
  const std::uint32_t without_event = std::min(unread_then, producer_ - notified_end_);
  if (without_event == 0) return false;
  if (kind == abi::ArmKind::next) return true;
  return producer_ - solicited_end_ < without_event;
}

CompletionIndices CompletionRing::indices() const {
  const std::uint32_t consumer = config_.doorbells->consumer.load(std::memory_order_relaxed);
  return {config_.slots, producer_, producer_ - unread(consumer)};
}

void CompletionRing::begin_move(void* ring, std::uint32_t slots) {
  new_ring_ = static_cast<std::byte*>(ring);
  new_slots_ = std::bit_floor(std::min(slots, kMostCqes));
}

// The program puts the CQE that it had at index i to index i + 1, and the CQE that ends the old memory takes
// part in the count: so the next one has the same index as if nothing had happened (as libmlx5's
// mlx5_cq_resize_copy_cqes does it).
CompletionRing::Moved CompletionRing::move(std::uint32_t) {
  read_consumer();
  const std::uint32_t unread_now = producer_ - consumer_;
  if (unread_now >= config_.slots || unread_now > new_slots_) return Moved::does_not_fit;
  Cqe end{};
  put(end, CompletionOpcode::resized, false);
  config_.ring = new_ring_;
  config_.slots = new_slots_;
  ++consumer_;  // which the program publishes when it reads the next CQE
  return Moved::all;
}

}  // namespace urnic::engine::mlx5
