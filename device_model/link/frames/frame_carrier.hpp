// What carries Ethernet frames out of this process and in: a socket, or a network interface. One
// implementation for each kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "device_model/link/uplink.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {

// How often a carrier looks for a peer that is not there.
constexpr transport::Nanoseconds kPeerRetry{100'000'000};

struct CarrierCounters {
  std::uint64_t impossible_length = 0;  // received frames, too short or too long
  std::uint64_t kernel_drops = 0;       // received frames for which the kernel's buffer had no room
  std::uint64_t refused = 0;            // frames to send that the kernel refused: too long, interface down
  std::uint64_t connections = 0;        // peers so far; 0: this kind has none
  std::uint64_t broken_streams = 0;     // peers that were left: they sent a length that no frame has
  std::uint64_t stalled_peers = 0;      // peers that were left: they took nothing for long
  std::uint64_t strangers = 0;          // peers that were sent away: not an allowed user's
};

// Engine thread only, but for `wake_descriptor`. System calls are made per batch of frames where the kernel
// has such a call.
class FrameCarrier {
 public:
  virtual ~FrameCarrier() = default;

  // Readable when `receive` or `send` has something to do.
  virtual int wake_descriptor() const = 0;
  // False: nobody would get what is sent.
  virtual bool is_connected() const = 0;

  // Frames that have come, at most `most`, each of at least an Ethernet header's length, with its VLAN tag if
  // it has one. The caller may change them. Their bytes stay until `release`, the list until the next call.
  virtual std::span<const std::span<std::byte>> receive(transport::Time now, const Load& most) = 0;
  virtual void release() = 0;

  // Sends frames, each behind its length in 32 bits, big endian. Returns how many bytes of `frames` are done
  // with, always whole frames; the caller comes again with the others.
  virtual std::size_t send(std::span<const std::byte> frames) = 0;

  // The peer has taken nothing for long: leaves it, if there may be a better one.
  virtual void peer_stalls(transport::Time) {}

  // When `receive` has something to do although nothing comes.
  virtual std::optional<transport::Time> next_due() const { return {}; }
  virtual CarrierCounters counters() const = 0;
};

}  // namespace urnic::link
