// The program's end of work queues, in plain memory: WQEs are written as libmlx5 writes them (its functions
// mlx5_post_send, mlx5_post_recv and mlx5_post_srq_recv), in words of our own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "tests/unit/mlx5_rings/bytes.hpp"

namespace urnic::engine::mlx5::test {

// Opcodes and flags of send WQEs.
inline constexpr std::uint8_t kNop = 0x00, kSendInvalidate = 0x01, kWrite = 0x08, kWriteImmediate = 0x09,
                              kSend = 0x0A, kSendImmediate = 0x0B, kTso = 0x0E, kRead = 0x10, kSwap = 0x11,
                              kAdd = 0x12, kMaskedSwap = 0x14, kMaskedAdd = 0x15, kInvalidate = 0x1B,
                              kUmr = 0x25;
inline constexpr std::uint8_t kUpdate = 0x08, kSolicit = 0x02, kSmallFence = 0x20, kFence = 0x80;

// Segments.
inline Bytes remote(std::uint64_t address, std::uint32_t rkey) {
  return Bytes().u64(address).u32(rkey).u32(0);
}
inline Bytes operands(std::uint64_t swap_add, std::uint64_t compare) {
  return Bytes().u64(swap_add).u64(compare);
}
inline Bytes data(std::uint32_t length, std::uint32_t lkey, std::uint64_t address) {
  return Bytes().u32(length).u32(lkey).u64(address);
}
inline Bytes filled_up(Bytes bytes) { return bytes.zeros((16 - bytes.all.size() % 16) % 16); }
inline Bytes inlined(std::span<const std::byte> bytes) {
  return filled_up(Bytes().u32(0x80000000u | bytes.size()).raw(bytes));
}
inline Bytes xrc(std::uint32_t srq) { return Bytes().u32(srq).zeros(12); }
inline Bytes datagram(std::uint32_t qkey, std::uint32_t qpn, std::uint32_t handle) {
  return Bytes()
      .u32(qkey)
      .u32(0)
      .u32(0x80000000u | qpn)
      .zeros(8)
      .u8(2)
      .u8(0x75)
      .u32(handle)
      .zeros(2 + 4 + 16);
}
inline constexpr std::uint8_t kNetworkChecksum = 0x40, kTransportChecksum = 0x80;
inline Bytes ethernet(std::span<const std::byte> begin, std::uint8_t checksums = 0) {
  Bytes segment = Bytes().zeros(4).u8(checksums).zeros(7).u16(begin.size()).raw(begin);
  if (begin.size() < 2) segment.zeros(2 - begin.size());
  return filled_up(segment);
}
struct Window {
  bool type_2 = true;
  std::uint32_t key_byte = 0;
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint32_t lkey = 0;
  std::uint8_t access = 0;
  bool zero_based = false;
};
// The segments of a bind, or of an invalidation if the window has no length.
inline Bytes key_change(const Window& window, std::uint32_t qpn = 0x123456) {
  const bool binds = window.length != 0;
  std::uint64_t mask = 1 << 29 | 1 << 13;
  std::uint8_t flags = 1 << 4 | 1 << 7;
  if (window.type_2) mask |= 1 << 14;
  if (binds) mask |= 1 | 1 << 6 | 15 << 18;
  if (window.type_2) flags |= binds ? 1 << 5 : 1 << 3;
  Bytes segments = Bytes().u8(flags).zeros(3).u16(binds ? 4 : 0).u16(0).u64(mask).zeros(32);
  segments.u8(binds ? 0 : 1 << 6).u8(0).u8(window.access).u8(0);
  segments.u32((window.key_byte & 0xFF) | (window.type_2 && binds ? qpn << 8 : 0xFFFFFF00));
  segments.zeros(8).u64(window.zero_based ? 0 : window.address).u64(window.length).zeros(32);
  if (binds)
    segments.u32(static_cast<std::uint32_t>(window.length)).u32(window.lkey).u64(window.address).zeros(48);
  return segments;
}

// Which bytes of a WQE's first segment are not as they should be.
struct Flaw {
  std::optional<std::uint32_t> units{};
  std::optional<std::uint16_t> block{};
  std::uint8_t modifier = 0;
};

class SendEnd {
 public:
  explicit SendEnd(std::uint32_t blocks) : ring(std::size_t{blocks} * 64), blocks_(blocks) {}

  // Writes a WQE. The doorbell record is not changed before `publish`.
  void write(std::uint8_t opcode, std::uint8_t flags, std::uint32_t immediate, const Bytes& segments,
             const Flaw& flaw = {}) {
    const std::size_t units = 1 + segments.all.size() / 16;
    Bytes wqe;
    wqe.u8(flaw.modifier).u16(flaw.block.value_or(counter)).u8(opcode);
    wqe.u32(0x123456u << 8 | flaw.units.value_or(static_cast<std::uint32_t>(units)));
    wqe.zeros(3).u8(flags).u32(immediate);
    wqe += segments;
    for (std::size_t i = 0; i < wqe.all.size(); ++i) {
      ring[(std::size_t{counter} * 64 + i) % ring.size()] = wqe.all[i];
    }
    counter = static_cast<std::uint16_t>(counter + (units + 3) / 4);
  }
  void publish() { doorbells.send.store(counter, std::memory_order_release); }
  void post(std::uint8_t opcode, std::uint8_t flags = kUpdate, std::uint32_t immediate = 0,
            const Bytes& segments = {}, const Flaw& flaw = {}) {
    write(opcode, flags, immediate, segments, flaw);
    publish();
  }

  std::vector<std::byte> ring;
  abi::mlx5::WorkDoorbells doorbells{};
  std::uint16_t counter = 0;
  std::uint32_t blocks() const { return blocks_; }

 private:
  std::uint32_t blocks_;
};

class ReceiveEnd {
 public:
  ReceiveEnd(std::uint32_t slots, std::uint32_t stride)
      : ring(std::size_t{slots} * stride), slots_(slots), stride_(stride) {}

  // A list that does not fill the stride ends with a segment that has no L_Key.
  void post(const Bytes& segments) {
    Bytes wqe = segments;
    if (wqe.all.size() < stride_) wqe.u32(0).u32(0x100).u64(0);
    std::byte* const slot = ring.data() + std::size_t{counter % slots_} * stride_;
    std::copy(wqe.all.begin(), wqe.all.end(), slot);
    ++counter;
    doorbells.receive.store(counter & 0xFFFF, std::memory_order_release);
  }

  std::vector<std::byte> ring;
  abi::mlx5::WorkDoorbells doorbells{};
  std::uint32_t counter = 0;

 private:
  std::uint32_t slots_;
  std::uint32_t stride_;
};

// Slots are posted in the order of a list that goes through all free ones.
class SharedReceiveEnd {
 public:
  SharedReceiveEnd(std::uint32_t slots, std::uint32_t stride)
      : ring(std::size_t{slots} * stride), stride_(stride) {
    for (std::uint32_t i = 0; i + 1 < slots; ++i) link(i, i + 1);
    tail_ = slots - 1;
  }

  // The slot that it took; the last one of the list is never taken.
  std::uint32_t post(const Bytes& segments) {
    const std::uint32_t slot = head_;
    std::byte* const at = ring.data() + std::size_t{slot} * stride_;
    head_ = static_cast<std::uint32_t>(number_at(at + 2, 2));
    Bytes list = segments;
    if (list.all.size() + 16 < stride_) list.u32(0).u32(0x100).u64(0);
    std::copy(list.all.begin(), list.all.end(), at + 16);
    publish(++counter);
    return slot;
  }
  // The slot's completion was polled.
  void free(std::uint32_t slot) {
    link(tail_, slot);
    tail_ = slot;
  }
  void link(std::uint32_t slot, std::uint32_t next) {
    const Bytes bytes = Bytes().u16(next);
    std::copy(bytes.all.begin(), bytes.all.end(), ring.data() + std::size_t{slot} * stride_ + 2);
  }
  void publish(std::uint16_t posted) { record.store(posted, std::memory_order_release); }

  std::vector<std::byte> ring;
  abi::mlx5::SharedBig32 record{};
  std::uint16_t counter = 0;

 private:
  std::uint32_t stride_;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
};

}  // namespace urnic::engine::mlx5::test
