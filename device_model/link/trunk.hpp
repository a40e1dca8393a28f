// Frames on their way from one engine's switch to another's: a ring with one writer, the sending engine's
// thread, and one reader, the receiving engine's. Headers are copied. Payload that the sending engine can
// keep in place (transport/payload_keeper.hpp) is lent to the reader until it releases the frame.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/link/frame_in_flight.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/remarks.hpp"
#include "device_model/transport/payload_keeper.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

// What a frame passes behind the trunk.
enum class Onward : std::uint8_t {
  through_link,  // it has passed the sender's link; the receiver's is next
  to_device,     // a fault's answer, which passes no link
};

class Trunk {
 public:
  // Frames in the ring; a power of two.
  static constexpr std::uint32_t kFrames = 1024;
  // Frames that an engine may put in after one `has_room`; more may be refused.
  static constexpr std::uint32_t kFramesPerRound = 512;
  // With this many bytes of payload lent to the reader, the trunk has no room: so the payload between the two
  // engines stays in the caches.
  static constexpr std::size_t kMostLentBytes = 512 * 1024;

  // Valid from `take` to `release`.
  struct Passenger {
    wire::Frame frame;
    PacketOrigin origin;
    transport::Time sent{};
    std::uint32_t from = 0;  // numbers of ports
    std::uint32_t to = 0;
    Onward onward = Onward::through_link;
    Remarks remarks;
  };

  // `keeper` belongs to the sending engine and outlives its use; null: all payload is copied.
  explicit Trunk(transport::PayloadKeeper* keeper);
  Trunk(const Trunk&) = delete;
  Trunk& operator=(const Trunk&) = delete;

  // The sending engine's thread only.
  // Puts in a frame of at most kSlotBytes; the reader sees it after `publish`. False if the ring is full.
  bool put(const FrameInFlight& flight, std::uint32_t from, std::uint32_t to, Onward onward,
           transport::Time now);
  // False if nothing was put in since the last `publish`.
  bool publish();
  // Takes back payload and slots that the reader has released.
  void reclaim();
  // As of the last `reclaim`: there is room for a round's frames.
  bool has_room() const {
    return written_ - settled_seen_ <= kFrames - kFramesPerRound && lent_bytes_ < kMostLentBytes;
  }
  // Frames that were put in and may still be answered; as of the last `reclaim`.
  std::uint32_t unsettled() const { return static_cast<std::uint32_t>(written_ - settled_seen_); }
  // When the first such frame was put in; as of the last `reclaim`.
  std::optional<transport::Time> oldest_unsettled() const;

  // The receiving engine's thread only.
  // The next frame, or null.
  const Passenger* take();
  // The reader no longer needs the bytes of the frames taken so far.
  void release();
  // Answers have been sent to the frames that were taken before the last call of this.
  void settle();
  // When the oldest frame was sent that `take` has seen and left on the trunk; empty: it has left none.
  std::optional<transport::Time> oldest_untaken() const;

 private:
  // Payload up to this length is copied: cheaper than lending it.
  static constexpr std::size_t kShortPayloadBytes = 256;
  static constexpr std::size_t kCacheLine = 64;

  struct alignas(kCacheLine) Slot {
    Passenger passenger;
    std::optional<transport::PayloadKeeper::Place> lent;
    std::array<std::byte, wire::kMaxHeaderBytes + wire::kMaxTrailerBytes + kShortPayloadBytes> bytes;
  };

  Slot& at(std::uint64_t count) { return slots_[count & (kFrames - 1)]; }
  const Slot& at(std::uint64_t count) const { return slots_[count & (kFrames - 1)]; }
  void load(Slot& slot, const wire::Frame& frame);
  bool lend(Slot& slot, std::span<const std::byte> payload);

  // A slot has room for the pieces of most frames; a contiguous frame is copied to its part of `whole_`,
  // which is not touched before its first use.
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<std::byte[]> whole_;
  transport::PayloadKeeper* const keeper_;

  // The writer's. All counts are of frames since the beginning.
  alignas(kCacheLine) std::uint64_t written_ = 0;
  std::uint64_t published_ = 0;
  std::uint64_t reclaimed_ = 0;
  std::uint64_t settled_seen_ = 0;
  std::size_t lent_bytes_ = 0;
  // Stored by the writer.
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
  // The reader's.
  alignas(kCacheLine) std::uint64_t head_seen_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t to_settle_ = 0;
  // Stored by the reader; settled_ is never more than released_.
  alignas(kCacheLine) std::atomic<std::uint64_t> released_{0};
  std::atomic<std::uint64_t> settled_{0};
};

}  // namespace urnic::link
