// Frames on their way from one engine's switch to another's: a ring with one writer, the sending engine's
// thread, and one reader, the receiving engine's. Headers are copied; payload that the sending engine can
// leave where it lies (transport/payload_keeper.hpp) is referred to, and belongs to the reader until it says
// that it needs it no more.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/link/packet_identity.hpp"
#include "device_model/link/traveller.hpp"
#include "device_model/link/why.hpp"
#include "device_model/transport/payload_keeper.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

// Where a frame goes on behind the trunk.
enum class Onward : std::uint8_t {
  through_link,  // it has passed the sender's link, and passes the receiver's
  to_device,     // a fault's answer, which no link touches
};

class Trunk {
 public:
  // Frames in the ring; a power of two.
  static constexpr std::uint32_t kFrames = 1024;
  // Most that an engine puts in between two looks at `has_room`; more may find no place.
  static constexpr std::uint32_t kFramesPerRound = 512;
  // While so many bytes of payload are lent to the reader there is no room for more: what the two are apart
  // is to stay in the caches.
  static constexpr std::size_t kMostLentBytes = 512 * 1024;

  // Valid from `take` to `release`.
  struct Passenger {
    wire::Frame frame;
    PacketOrigin origin;
    transport::Time sent{};
    std::uint32_t from = 0;  // numbers of ports
    std::uint32_t to = 0;
    Onward onward = Onward::through_link;
    Why why;
  };

  // `keeper` is the sending engine's and outlives its use; null: all payload is copied.
  explicit Trunk(transport::PayloadKeeper* keeper);
  Trunk(const Trunk&) = delete;
  Trunk& operator=(const Trunk&) = delete;

  // The sending engine's thread only.
  // Puts a frame in, of at most kSlotBytes, for the reader to see from the next `publish` on; false if there
  // is no place.
  bool put(const Traveller& traveller, std::uint32_t from, std::uint32_t to, Onward onward,
           transport::Time now);
  // False if nothing was put in since the last one.
  bool publish();
  // Takes back what the reader has done with.
  void reclaim();
  // As of the last `reclaim`: a round's frames have places.
  bool has_room() const {
    return written_ - settled_seen_ <= kFrames - kFramesPerRound && lent_bytes_ < kMostLentBytes;
  }
  // Frames put in whose answers may still come; as of the last `reclaim`.
  std::uint32_t unsettled() const { return static_cast<std::uint32_t>(written_ - settled_seen_); }
  // When the first frame was put in whose answers may still come; as of the last `reclaim`.
  std::optional<transport::Time> oldest_unsettled() const;

  // The receiving engine's thread only.
  // The next frame, or null.
  const Passenger* take();
  // The bytes of all frames taken until now are needed no more.
  void release();
  // What the frames brought about that had been taken at the call before has been sent.
  void settle();
  // When the next frame was sent, if `take` has left one that it knows of.
  std::optional<transport::Time> oldest_untaken() const;

 private:
  // Payload as short as this is copied: that costs less than to lend it.
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

  // A slot has room for the pieces of most frames; a whole one is copied to its part of `whole_`, which is
  // not touched before it is used.
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
