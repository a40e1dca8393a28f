// The program's end of a completion queue, in plain memory: polled, armed and resized as libmlx5 does it (its
// functions mlx5_poll_one, mlx5_arm_cq and mlx5_cq_resize_copy_cqes), in words of our own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "tests/unit/mlx5_rings/bytes.hpp"

namespace urnic::engine::mlx5::test {

struct PolledCqe {
  unsigned opcode = 0;
  bool solicited = false;
  std::uint32_t user_index = 0;
  std::uint32_t qpn = 0;
  unsigned send_opcode = 0;
  std::uint16_t counter = 0;
  std::uint32_t byte_count = 0;
  std::uint32_t immediate = 0;
  std::uint32_t source = 0;
  unsigned service_level = 0;
  unsigned grh = 0;
  unsigned network_header = 0;
  unsigned header_types = 0;
  unsigned checksums = 0;
  std::uint32_t flow_hash = 0;
  std::uint64_t timestamp = 0;
  unsigned syndrome = 0;  // with opcodes 13 and 14
  unsigned vendor_syndrome = 0;
};

class CqBuffer {
 public:
  CqBuffer(std::uint32_t count, std::uint32_t bytes)
      : slots(count), entry_bytes(bytes), words_(std::size_t{count} * bytes / 8) {
    for (std::uint32_t i = 0; i < slots; ++i) *last_byte(i) = std::byte{0xF0};
  }
  std::byte* begin() { return reinterpret_cast<std::byte*>(words_.data()); }
  // Of the 64 bytes that matter.
  std::byte* entry(std::uint32_t index) {
    return begin() + std::size_t{index % slots} * entry_bytes + (entry_bytes - 64);
  }
  std::byte* last_byte(std::uint32_t index) { return entry(index) + 63; }
  // The entry at `index` is the program's.
  bool is_mine(std::uint32_t index) {
    const auto byte = std::atomic_ref(*last_byte(index)).load(std::memory_order_acquire);
    const bool lap = (index & slots) != 0;
    return std::to_integer<unsigned>(byte) >> 4 != 15 && (std::to_integer<unsigned>(byte) & 1) == lap;
  }
  unsigned opcode(std::uint32_t index) { return std::to_integer<unsigned>(*last_byte(index)) >> 4; }

  std::uint32_t slots;
  std::uint32_t entry_bytes;

 private:
  std::vector<std::uint64_t> words_;
};

class CompletionEnd {
 public:
  explicit CompletionEnd(std::uint32_t slots, std::uint32_t entry_bytes = 64)
      : buffer(std::make_unique<CqBuffer>(slots, entry_bytes)) {}

  std::optional<PolledCqe> poll() {
    const std::optional<PolledCqe> polled = take();
    if (polled) doorbells.consumer.store(consumer & 0xFFFFFF, std::memory_order_release);
    return polled;
  }
  // Without telling the device.
  std::optional<PolledCqe> take() {
    if (!buffer->is_mine(consumer)) return std::nullopt;
    const std::byte* const at = buffer->entry(consumer++);
    PolledCqe cqe;
    const auto last = static_cast<unsigned>(number_at(at + 63, 1));
    cqe.opcode = last >> 4;
    cqe.solicited = (last & 2) != 0;
    const std::uint64_t source = number_at(at + 24, 4);
    cqe.source = source & 0xFFFFFF;
    cqe.service_level = source >> 24 & 0xF;
    cqe.grh = source >> 28 & 3;
    cqe.checksums = static_cast<unsigned>(number_at(at + 28, 1));
    cqe.network_header = number_at(at + 29, 1) >> 2 & 3;
    cqe.header_types = static_cast<unsigned>(number_at(at + 29, 1));
    cqe.flow_hash = static_cast<std::uint32_t>(number_at(at + 12, 4));
    cqe.user_index = number_at(at + 32, 4) & 0xFFFFFF;
    cqe.immediate = static_cast<std::uint32_t>(number_at(at + 36, 4));
    cqe.byte_count = static_cast<std::uint32_t>(number_at(at + 44, 4));
    cqe.qpn = number_at(at + 56, 4) & 0xFFFFFF;
    cqe.send_opcode = static_cast<unsigned>(number_at(at + 56, 1));
    cqe.counter = static_cast<std::uint16_t>(number_at(at + 60, 2));
    if (cqe.opcode == 13 || cqe.opcode == 14) {
      cqe.vendor_syndrome = static_cast<unsigned>(number_at(at + 54, 1));
      cqe.syndrome = static_cast<unsigned>(number_at(at + 55, 1));
    } else {
      cqe.timestamp = number_at(at + 48, 8);
    }
    return cqe;
  }
  void arm(bool solicited = false) {
    const std::uint32_t command = solicited ? 1u << 24 : 0u;
    doorbells.request.store(events % 4 << 28 | command | (consumer & 0xFFFFFF), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  // The program has read an event.
  void got_event() { ++events; }

  // Goes on in `next`, in which the device writes from now on. False: the CQE that says so is missing.
  bool go_on_in(std::unique_ptr<CqBuffer> next) {
    for (std::uint32_t i = consumer; buffer->is_mine(i) && i - consumer < buffer->slots; ++i) {
      if (buffer->opcode(i) == 5) {
        ++consumer;
        buffer = std::move(next);
        return true;
      }
      std::copy_n(buffer->entry(i), 64, next->entry(i + 1));
      const bool lap = ((i + 1) & next->slots) != 0;
      *next->last_byte(i + 1) = (*next->last_byte(i + 1) & std::byte{0xFE}) | std::byte{lap};
    }
    return false;
  }

  std::unique_ptr<CqBuffer> buffer;
  abi::mlx5::CompletionDoorbells doorbells{};
  std::uint32_t consumer = 0;
  std::uint32_t events = 0;
};

}  // namespace urnic::engine::mlx5::test
