// Work requests in the shared queues: valid ones of every opcode, some of their words bent.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tests/security/device_fuzz/program.hpp"

namespace urnic::device_fuzz {

namespace {

constexpr std::uint32_t kMostBytes = 100'000;

template <typename Words>
Words* words_in(std::span<std::byte> place) {
  return place.size() >= sizeof(Words) ? reinterpret_cast<Words*>(place.data()) : nullptr;
}

template <typename Part>
void put(std::span<std::byte> place, const Part& part) {
  if (place.size() >= sizeof part) std::memcpy(place.data(), &part, sizeof part);
}

std::span<std::byte> slot(std::span<std::byte> ring, std::uint32_t slots, std::uint32_t bytes,
                          std::uint32_t index) {
  const std::size_t begin = std::size_t{slots == 0 ? 0 : index % slots} * bytes;
  return begin + bytes <= ring.size() ? ring.subspan(begin, bytes) : std::span<std::byte>();
}

}  // namespace

void Program::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof one);
}

void Program::ring(std::uint32_t number) {
  auto* const doorbells = words_in<abi::Doorbells>(doorbells_);
  if (doorbells == nullptr) return;
  doorbells->ring(number % abi::kDoorbellsPerContext);
  if (chance_.once_in(32))
    for (int i = 0; i < 1000; ++i) doorbells->ring(chance_.below(abi::kDoorbellsPerContext));
  wake();
}

void Program::put_segments(std::span<std::byte> place, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t offset = i * sizeof(abi::ScatterGather);
    if (offset + sizeof(abi::ScatterGather) > place.size()) return;
    const std::uint32_t length = chance_.once_in(64) ? chance_.word() : chance_.below(kMostBytes);
    put(place.subspan(offset), abi::ScatterGather{attack_.memory.address(), length, chance_.any(lkeys_)});
  }
}

void Program::post() {
  for (std::uint32_t times = chance_.from(1, 8); times > 0; --times) {
    const std::uint32_t kind = chance_.below(8);
    if (kind < 2 && !srqs_.empty()) {
      Queue& queue = srqs_[chance_.below(srqs_.size())];
      kind == 0 ? post_shared_receive(queue) : post_tag(queue);
    } else if (!qps_.empty()) {
      Queue& queue = qps_[chance_.below(qps_.size())];
      kind < 4 ? post_receive(queue) : post_send(queue);
    }
  }
}

void Program::post_send(Queue& queue) {
  auto* const indices = words_in<abi::QueuePairIndices>(queue.indices);
  if (indices == nullptr || queue.sends == 0) return;
  const std::uint32_t index = indices->send_producer.load();
  const auto place = slot(queue.send_ring, queue.sends, queue.send_bytes, index);
  if (place.size() < sizeof(abi::SendWqe)) return;
  abi::SendWqe wqe{};
  wqe.opcode = static_cast<std::uint8_t>(chance_.one_of({0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 15}));
  wqe.flags =
      static_cast<std::uint8_t>(chance_.once_in(2) ? std::uint32_t{abi::send_signaled} : chance_.below(16));
  const auto most = static_cast<std::uint32_t>((place.size() - sizeof wqe) / sizeof(abi::ScatterGather));
  wqe.sge_count = static_cast<std::uint8_t>(chance_.below(std::min<std::size_t>(most + 1, 8)));
  wqe.inline_length = chance_.below(place.size() - sizeof wqe + 1);
  wqe.immediate_or_rkey = chance_.once_in(2) ? chance_.any(attack_.keys) : chance_.word();
  wqe.rkey = chance_.any(attack_.keys);
  wqe.remote_address = attack_.memory.address();
  wqe.compare_add = wqe.opcode == 8 ? chance_.from(1, 65536) : chance_.number();
  wqe.swap = chance_.below(256);
  wqe.bind_lkey = chance_.any(lkeys_);
  wqe.remote_qpn = chance_.any(attack_.qpns);
  wqe.remote_qkey = 0x11111111;
  wqe.address_handle = chance_.any(ah_numbers_);
  wqe.remote_srq = srqs_.empty() ? chance_.word() : srqs_[chance_.below(srqs_.size())].number;
  put_segments(place.subspan(sizeof wqe), wqe.sge_count);
  put(place, wqe);
  if (chance_.once_in(8)) place[chance_.below(sizeof wqe)] ^= static_cast<std::byte>(chance_.word());
  indices->send_producer.store(index + 1, std::memory_order_release);
  ring(queue.doorbell);
  ++attack_.counts.posted;
}

void Program::post_receive(Queue& queue) {
  auto* const indices = words_in<abi::QueuePairIndices>(queue.indices);
  if (indices == nullptr || queue.receives == 0) return;
  const std::uint32_t index = indices->receive_producer.load();
  const auto place = slot(queue.receive_ring, queue.receives, queue.receive_bytes, index);
  if (place.size() < sizeof(abi::ReceiveWqe)) return;
  const auto count =
      static_cast<std::uint32_t>((place.size() - sizeof(abi::ReceiveWqe)) / sizeof(abi::ScatterGather));
  put(place, abi::ReceiveWqe{count, {}});
  put_segments(place.subspan(sizeof(abi::ReceiveWqe)), count);
  indices->receive_producer.store(index + 1, std::memory_order_release);
  ++attack_.counts.posted;
}

void Program::post_shared_receive(Queue& queue) {
  auto* const indices = words_in<abi::SharedReceiveIndices>(queue.indices);
  if (indices == nullptr || queue.receives == 0) return;
  const std::uint32_t index = indices->producer.load();
  const std::uint32_t number = chance_.below(queue.receives);
  const auto place = slot(queue.receive_ring, queue.receives, queue.receive_bytes, number);
  const auto word = slot(queue.posted_ring, queue.receives, sizeof(std::uint32_t), index);
  if (place.size() < sizeof(abi::ReceiveWqe) || word.empty()) return;
  const auto count =
      static_cast<std::uint32_t>((place.size() - sizeof(abi::ReceiveWqe)) / sizeof(abi::ScatterGather));
  put(place, abi::ReceiveWqe{count, {}});
  put_segments(place.subspan(sizeof(abi::ReceiveWqe)), count);
  put(word, chance_.once_in(16) ? chance_.word() : number);
  indices->producer.store(index + 1, std::memory_order_release);
  ++attack_.counts.posted;
}

void Program::post_tag(Queue& queue) {
  auto* const indices = words_in<abi::TagMatchingIndices>(queue.operation_indices);
  const auto slots = static_cast<std::uint32_t>(queue.operations.size() / sizeof(abi::TagOperation));
  if (indices == nullptr || slots == 0) return;
  const std::uint32_t index = indices->producer.load();
  const auto place = slot(queue.operations, slots, sizeof(abi::TagOperation), index);
  abi::TagOperation operation{};
  operation.opcode = static_cast<std::uint8_t>(chance_.below(3));
  operation.flags = static_cast<std::uint8_t>(chance_.below(4));
  operation.sge_count = static_cast<std::uint16_t>(chance_.below(8));
  operation.entry = chance_.once_in(32) ? chance_.word() : chance_.below(128);
  operation.tag = chance_.below(4);
  operation.mask = chance_.below(4);
  put_segments(std::as_writable_bytes(std::span(operation.sges)), operation.sge_count);
  put(place, operation);
  indices->producer.store(index + 1, std::memory_order_release);
  ring(queue.tag_doorbell);
  ++attack_.counts.posted;
}

// Marks completions as read, arms CQs, takes events out of their pipes.
void Program::consume() {
  for (Completion& cq : cqs_) {
    auto* const indices = words_in<abi::CompletionQueueIndices>(cq.indices);
    if (indices == nullptr) continue;
    indices->consumer += chance_.below(cq.entries);
    indices->arm.store((chance_.word() << 2) | chance_.below(4));
  }
  if (opened_) wake();
}

}  // namespace urnic::device_fuzz
