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
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class ScoreboardRecovery;

class LossRecovery {
 public:
  virtual ~LossRecovery() = default;

  // Has the processor bring its state into the cache, without waiting for it.
  void prefetch() const { prefetch_bytes(this, kStateBytes); }

  // Nothing is under way; the next packet will be `first`.
  virtual void start(PacketNumber first) = 0;

  // One packet, covering `packets`, went out: for the first time if packets.first is beyond all before.
  // `asks` says that it asks for an acknowledgement.
  virtual void sent(PacketRange packets, bool asks, Time now) = 0;
  // How an arrival is known: by a response that is here, by the peer's word that it has executed the request,
  // or by its word that it keeps the packet.
  enum class Source : std::uint8_t { response, executed, selective_ack };
  // Everything before `until` has arrived, read responses included.
  virtual void acknowledged(PacketNumber until, Source source, Time now) = 0;
  // The peer (PSN sequence error) or a gap in the responses (implied NAK) says that everything
  // before `missing` arrived and `missing` (one packet) did not.
  virtual void missing(PacketRange missing, Time now) = 0;
  // The local ACK timer ran out; `oldest` is the first packet that has not arrived
  // or, if all have, that is not acknowledged: it must be sent again all the same.
  virtual void timed_out(PacketRange oldest, Time now) = 0;
  // What was sent from `from` on may never have left this device.
  virtual void discarded(PacketNumber from) = 0;
  // Packets from `end` on will not be sent again: their request failed here.
  virtual void truncate(PacketNumber end) = 0;

  // What to send again next, before anything new, but not more than `most` packets; empty if nothing. A
  // packet may cover less than the range; `sent` then tells how far it reached.
  virtual std::optional<PacketRange> resend(std::uint32_t most) const = 0;

  // This policy if it is one for peers that keep what arrives out of order, else null.
  virtual ScoreboardRecovery* selective() { return nullptr; }

 private:
  static constexpr std::size_t kStateBytes = 320;  // about those of the largest
};

// The sender policy of `settings.mode`, with room for `window` packets from the first not acknowledged on.
std::unique_ptr<LossRecovery> make_loss_recovery(const RecoverySettings& settings, std::uint32_t window);

}  // namespace urnic::transport
