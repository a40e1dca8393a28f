// A loss recovery mode is a sender policy. It is told what was sent, acknowledged, reported missing and timed
// out, and answers what must be sent again, whether new packets may be sent, and when it wants to be woken.
// It knows no packet's contents, no socket and no clock.
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
  // The peer found no receive for these packets (RNR NAK) and has dropped them, even if it had kept them.
  virtual void refused(PacketRange packets, Time now) { missing(packets, now); }
  // The local ACK timer ran out; `oldest` is the first packet that has not arrived
  // or, if all have, that is not acknowledged: it must be sent again all the same.
  virtual void timed_out(PacketRange oldest, Time now) = 0;
  // What was sent from `from` on may never have left this device.
  virtual void discarded(PacketNumber from) = 0;
  // Packets from `end` on will not be sent again: their request failed here.
  virtual void truncate(PacketNumber end) = 0;

  // Packets that arrive out of order are kept, by the peer and here: after a loss only what is missing is
  // sent again, and a NAK for a sequence error does not use up a retry. What follows is asked and told only
  // then.
  virtual bool keeps_out_of_order() const { return false; }
  // The arrival of `packet`, which is not the first missing, can be noted.
  virtual bool covers(PacketNumber) const { return false; }
  virtual bool has_arrived(PacketNumber) const { return false; }
  // `packet`, which must be covered, has arrived ahead of others.
  virtual void arrived(PacketNumber /*packet*/, Source /*source*/, Time /*now*/) {}
  // The news of one response are told. Before, it is too early to say what is lost: the same response may
  // tell that it has arrived.
  virtual void settle(Time /*now*/) {}
  // The peer has answered `packet`, or all up to it, once more: it had come, though it was sent again.
  virtual void answered_twice(PacketNumber /*packet*/, Time /*now*/) {}
  // A READ or atomic has reached the peer ahead of others; its response will be sent in its turn.
  virtual void reached(PacketRange /*packets*/, Time /*now*/) {}
  // The first from `from` on, before `limit`, that has not arrived; `limit` if none.
  virtual PacketNumber first_missing(PacketNumber from, PacketNumber /*limit*/) const { return from; }
  // How long the local ACK timer waits (IBTA 9.7.6.1.3), max() if for ever; from now on, also across `start`.
  virtual void set_ack_timeout(Nanoseconds) {}
  // The peer keeps to the specification: it gives no selective acks.
  virtual void peer_takes_no_part() {}

  // What to send again next, before anything new, but not more than `most` packets; empty if nothing. A
  // packet may cover less than the range; `sent` then tells how far it reached.
  virtual std::optional<PacketRange> resend(std::uint32_t most) const = 0;
  // False keeps new packets back although nothing is to be sent again. `in_flight` is the count of those sent
  // and not acknowledged.
  virtual bool may_send_new(std::uint64_t in_flight) const = 0;
  // At least one in so many new packets asks for an acknowledgement; 0: the window's size decides.
  virtual std::uint32_t ack_interval() const { return 0; }

  // Packets were overtaken by others and may be lost or late. While new packets are sent, their arrival will
  // tell; when none can be sent any more, `wake` wants to know.
  bool has_suspects() const { return has_suspects_; }
  // When to call `woken`; empty: not at all. `nothing_new` says that nothing new can be sent now; it matters
  // only if there are suspects. `oldest` is as for `timed_out`; `newest` is the last packet sent, whose
  // acknowledgement tells of all others, or `oldest` where that would tell nothing.
  virtual std::optional<Time> wake(bool nothing_new) const = 0;
  virtual void woken(PacketRange oldest, PacketRange newest, bool nothing_new, Time now) = 0;

 protected:
  bool has_suspects_ = false;

 private:
  static constexpr std::size_t kStateBytes = 320;  // about those of the largest
};

// The sender policy of `settings.mode`, with room for `window` packets from the first not acknowledged on.
std::unique_ptr<LossRecovery> make_loss_recovery(const RecoverySettings& settings, std::uint32_t window);

}  // namespace urnic::transport
