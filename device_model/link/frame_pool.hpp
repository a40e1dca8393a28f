// Copies of frames that are under way, in slots allocated once: no allocation per packet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "device_model/link/frame_edits.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/remarks.hpp"
#include "wire/ethernet.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class LinkChannel;
class SwitchPort;

// The longest RoCE packet, and a host's frame of as many bytes with the tag of a VLAN.
inline constexpr std::size_t kSlotBytes =
    wire::kMaxHeaderBytes + wire::kMaxPayloadBytes + wire::kMaxTrailerBytes + wire::kVlanTagBytes;

// A frame in one piece, with its origin and its place on the way.
struct PooledFrame {
  PacketOrigin origin;
  SwitchPort* from;
  SwitchPort* to;
  LinkChannel* channel;  // the channel that carries it
  std::uint32_t size;
  wire::LinkLayer link_layer;
  bool is_damaged;  // as in FrameInFlight, on a link
  Remarks remarks;
  std::array<std::byte, kSlotBytes> bytes;

  std::span<std::byte> whole() { return std::span(bytes).first(size); }
  EditedFrame edited() { return {whole(), link_layer}; }
  wire::Frame frame() { return {.headers = whole(), .payload = {}, .trailer = {}, .link_layer = link_layer}; }
  // Copies `frame`, of at most kSlotBytes.
  void copy(const wire::Frame& frame) {
    size = static_cast<std::uint32_t>(frame.size());
    link_layer = frame.link_layer;
    wire::copy_whole(frame, bytes.data());
  }
};

class FramePool {
 public:
  // Reuses the slot released last, and touches no slot before its first use: memory that is not needed stays
  // untouched. Throws std::bad_alloc.
  explicit FramePool(std::uint32_t slots);

  std::uint32_t in_use() const { return touched_ - static_cast<std::uint32_t>(free_.size()); }
  // Null if all are in use.
  PooledFrame* take() {
    if (!free_.empty()) {
      const std::uint32_t slot = free_.back();
      free_.pop_back();
      return new (slots_.get() + slot) PooledFrame;
    }
    return touched_ == capacity_ ? nullptr : new (slots_.get() + touched_++) PooledFrame;
  }
  void give(PooledFrame* slot) { free_.push_back(static_cast<std::uint32_t>(slot - slots_.get())); }

 private:
  static_assert(std::is_trivially_destructible_v<PooledFrame>);
  // A mapping of its own: an allocator may touch what it gives, and AddressSanitizer's does.
  struct Unmap {
    std::uint32_t slots;
    void operator()(PooledFrame* begin) const;
  };
  std::unique_ptr<PooledFrame, Unmap> slots_;
  std::uint32_t capacity_;
  std::uint32_t touched_ = 0;  // slots that were used at least once
  std::vector<std::uint32_t> free_;
};

}  // namespace urnic::link
