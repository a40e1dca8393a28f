// A loss recovery mode is a sender policy. It is told what was sent, acknowledged, reported missing and timed
// out, and answers what must be sent again. It knows no packet's contents, no socket and no clock.
//
// Packets are counted by the PSNs that they take: an RDMA READ request counts as many as its response has
// packets (IBTA 9.7.3.1), so "send [a, b) again" may mean a write's packets or a READ of just those bytes.
// The requester can make any packet again from its number alone, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/prefetch.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/selective_acks.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class ScoreboardRecovery;

// What a timer may send again.
struct Overdue {
  // The first packet that has not arrived; of a READ, all responses up to the next that has come. If all have
  // arrived, the first packet that is not acknowledged.
  PacketRange oldest;
  // For a tail-loss probe: the last packet sent, or `oldest` where the acknowledgement of the last one would
  // tell nothing.
  PacketRange newest;
  // The last packet sent, or the last READ as a whole; empty if something of it has arrived, or if it has
  // `oldest`.
  PacketRange last_request;
  bool oldest_is_read = false;
};

class LossRecovery {
 public:
  virtual ~LossRecovery() = default;

  // Prefetches its state.
  void prefetch() const { prefetch_bytes(this, kStateBytes); }

  // Nothing is under way; the next packet will be `first`.
  virtual void start(PacketNumber first) = 0;

  // A packet that covers `packets` was sent: for the first time if packets.first was never sent before.
  // `asks`: it requests an acknowledgement.
  virtual void sent(PacketRange packets, bool asks, Time now) = 0;
  // What tells of an arrival: its response, an acknowledgement that the peer has executed the request, or a
  // selective ack that the peer holds the packet.
  enum class Source : std::uint8_t { response, executed, selective_ack };
  // Everything before `until` has arrived, read responses included.
  virtual void acknowledged(PacketNumber until, Source source, Time now) = 0;
  // A NAK for a PSN sequence error, or a gap in the responses (implied NAK): everything before `missing` has
  // arrived, and `missing`, which is one packet, has not.
  virtual void missing(PacketRange missing, Time now) = 0;
  // The local ACK timer ran out: `overdue.oldest` must be sent again.
  virtual void timed_out(const Overdue& overdue, Time now) = 0;
  // Packets from `from` on may never have left this device, although they were `sent`.
  virtual void discarded(PacketNumber from) = 0;
  // Packets from `end` on will not be sent again: their request failed here.
  virtual void truncate(PacketNumber end) = 0;

  // What is known of the peer: whether it gives selective acks, or `outside`: it is a stranger, which keeps
  // to the specification and may do no more than that.
  virtual void peer_gives(SelectiveAcks /*selective_acks*/) {}

  // What to send again next, before anything new, but not more than `most` packets; empty if nothing. A
  // packet may cover less than the range; `sent` then tells how far it reached.
  virtual std::optional<PacketRange> resend(std::uint32_t most) const = 0;

  // False holds new packets back although no packet is to be sent again. `in_flight`: packets sent and not
  // acknowledged.
  virtual bool may_send_new(std::uint64_t /*in_flight*/) const { return true; }

  // One in so many packets requests an acknowledgement; 0: the requester chooses by the window's size.
  virtual std::uint32_t ack_interval() const { return 0; }

  // This policy if it is one for peers that keep what arrives out of order, else null.
  virtual ScoreboardRecovery* selective() { return nullptr; }

 private:
  static constexpr std::size_t kStateBytes = 320;  // about the size of the largest
};

// The sender policy of `settings.mode`, with room for `window` packets from the first not acknowledged on.
std::unique_ptr<LossRecovery> make_loss_recovery(const RecoverySettings& settings, std::uint32_t window);

}  // namespace urnic::transport
