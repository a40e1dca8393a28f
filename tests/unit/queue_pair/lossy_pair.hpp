// Two queue pairs over the product's link, which loses, duplicates, reorders and damages packets, under
// virtual time. All chance comes from one seed, so a run repeats exactly.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>

#include "tests/unit/queue_pair/side.hpp"
#include "tests/unit/transport_bench/packet_link.hpp"
#include "tests/unit/transport_bench/two_ends.hpp"

namespace urnic::transport::bench {

// A side and its link to the other.
class LossyEnd {
 public:
  using Link = PacketLink<Packet>;

  // `link` outlives this.
  LossyEnd(Link& link, wire::Qpn qpn, std::size_t memory_size, std::uint32_t slots, RecoveryMode recovery,
           QpService service = QpService::rc)
      : side(qpn, memory_size, slots, recovery, service), link_(link) {}

  // As TwoEnds asks.
  void arrive(const Packet& packet, Time now);
  void on_timer(Time now) { side.qp.on_timer(now); }
  void transmit(Time) {}  // `settle` sends all there is
  void settle(Time now);
  bool wants_to_send() const { return side.qp.wants_pump(); }
  std::optional<Time> deadline() const { return side.qp.deadline(); }

  Side side;
  // Packets from this end that were dropped because a bit was inverted.
  std::uint64_t dropped_as_corrupt = 0;
  // If it is set, packets from this end come from outside of the other's process, from this UDP source port.
  std::uint16_t source_port = 0;
  // Makes a packet that comes to this end behind each of the other's, once one of those has been taken.
  std::function<Packet()> stranger;

 private:
  bool has_peer_taken() const;

  Link& link_;
};

class LossyPair : private TwoEnds<LossyEnd> {
 public:
  // Both links have the settings `link`, with this seed. `batch`: packets that arrive within this span are
  // handled in one batch. `extended`: side 0 is the initiator of an extended reliable connection, side 1 the
  // target.
  LossyPair(std::uint64_t seed, link::LinkSettings link, const QpParameters& parameters,
            std::size_t memory_size, std::uint32_t slots, const std::array<RecoveryMode, 2>& recovery = {},
            Nanoseconds batch = {}, bool extended = false);

  Side& side(std::size_t which) { return end(which).side; }
  using TwoEnds::end;
  using TwoEnds::time;
  std::mt19937_64& chance() { return chance_; }
  std::uint64_t dropped_as_corrupt() const { return end(0).dropped_as_corrupt + end(1).dropped_as_corrupt; }

  // Lets both sides act, then the links and the timers, until nothing is under way or `span` has passed.
  // False if something is still under way then.
  bool run_for(Nanoseconds span);

 private:
  std::mt19937_64 chance_;
};

}  // namespace urnic::transport::bench
