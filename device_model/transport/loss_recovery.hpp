// A loss recovery mode is a sender policy. It is told what was sent, acknowledged, reported missing and timed
// out, and answers what must be sent again, whether new packets may be sent, and when it wants to be woken.
// It knows no packet's contents, no socket and no clock.
//
// Packets are counted by the PSNs that they take: an RDMA READ request counts as many as its response has
// packets (IBTA 9.7.3.1), so "send [a, b) again" may mean a write's packets or a READ of just those bytes.
// The requester can make any packet again from its number alone, in any order.
#pragma once

#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class LossRecovery {
 public:
  virtual ~LossRecovery() = default;

  // Nothing is sent; the first packet will be PacketNumber(0).
  virtual void start() = 0;

  // One packet, covering `packets`, went out: for the first time if packets.first is beyond all before.
  virtual void sent(PacketRange packets, Time now) = 0;
  // Everything before `until` has arrived, read responses included.
  virtual void acknowledged(PacketNumber until, Time now) = 0;
  // The peer (PSN sequence error or RNR NAK) or a gap in the responses (implied NAK) says that everything
  // before `first_missing` arrived and `first_missing` did not.
  virtual void missing(PacketNumber first_missing, Time now) = 0;
  // The local ACK timer ran out; `oldest` is the first packet that is not acknowledged.
  virtual void timed_out(PacketNumber oldest, Time now) = 0;
  // What was sent from `from` on may never have left this device.
  virtual void discarded(PacketNumber from) = 0;
  // Packets from `end` on will not be sent again: their request failed here.
  virtual void truncate(PacketNumber end) = 0;

  // What to send again next, before anything new; empty if nothing. A packet may cover less than the range;
  // `sent` then tells how far it reached.
  virtual std::optional<PacketRange> resend() const = 0;
  // False keeps new packets back although nothing is to be sent again. `in_flight` is the count of those sent
  // and not acknowledged.
  virtual bool may_send_new(std::uint64_t in_flight) const = 0;

  // When to call `woken`; empty: not at all.
  virtual std::optional<Time> wake() const = 0;
  virtual void woken(Time now) = 0;
};

}  // namespace urnic::transport
