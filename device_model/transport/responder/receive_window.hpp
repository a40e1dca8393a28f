// What has arrived at a responder: everything before the expected PSN, and the packets held behind it.
// Classifies an arriving PSN, gives the next packet to execute, and fills selective-ack headers. Sends
// nothing itself.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/responder/reorder_buffer.hpp"
#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

enum class Arrival : std::uint8_t {
  in_order,
  out_of_order,  // new, behind a hole
  held_already,  // it waits behind a hole; this is another copy
  duplicate,     // executed before
  beyond         // further ahead than anything is held
};

// Earlier packets that one SelectiveAckEth reports.
inline constexpr std::int32_t kReportedEarlier = 64;

class ReceiveWindow {
 public:
  // `pool` outlives this; null: nothing is ever held.
  //
  // `packets`: packets are held of which the PSN is less than that ahead of the expected one. It is the most
  // that the peer's requester may have under way (QpConfig::window_packets, the same at both ends): that
  // sends nothing whose PSN is further from its first unacknowledged one, and the responder expects that one
  // or a later one. READs do not widen it. A READ request takes a PSN for each packet of its response, but a
  // requester sends nothing behind one that reaches out of its window. So no window in use explains a packet
  // further ahead; it is a guess, or from another maker's NIC, which sends again what is dropped (IBTA
  // 9.7.5.2.2). A wider window would only make guesses easier: with 2^22, one in four of all PSNs was held.
  ReceiveWindow(ReorderPool* pool, std::uint32_t packets) : packets_(packets), held_(pool, packets) {}

  // Forgets all; `expected` comes first.
  void start(wire::Psn expected);
  // Gives back what is held.
  void drop_held() { held_.clear(); }

  wire::Psn expected() const { return expected_; }
  // Something behind the expected PSN has arrived.
  bool has_hole() const { return !held_.empty(); }

  // What a request with this PSN is.
  Arrival arrival(wire::Psn psn) const;
  // Keeps a copy of a packet that is `out_of_order` and covers `psns` PSNs. False if there is no room.
  bool hold(const InboundPacket& packet, std::uint32_t psns) { return held_.hold(packet, psns); }
  const HeldPacket* held(wire::Psn psn) const { return held_.find(psn); }
  // Gives back the packet with this PSN, which is held, as if it had never come.
  void drop(wire::Psn psn) { held_.retire(held_.take(psn)); }
  // Everything before `expected` has been executed.
  void advance(wire::Psn expected) { expected_ = expected; }

  // Takes out the packet with the expected PSN if it is held, else null. What an executed READ has covered is
  // given back on the way. The packet's payload is valid until the batch is flushed; `retire` it.
  const HeldPacket* take_expected();
  void retire(const HeldPacket& packet) { held_.retire(packet); }

  // The selective-ack header for the arrival of `latest`.
  wire::SelectiveAckEth report(wire::Psn latest) const;
  // Calls `act` with the first PSN and the number of PSNs of each packet that is held, in order.
  template <typename Act>
  void for_each_held(Act act) const {
    held_.for_each([&](const ReorderBuffer::Extent& packet) { act(packet.first, packet.psns); });
  }
  // The last PSN that is held, of those in [from, to].
  std::optional<wire::Psn> last_held(wire::Psn from, wire::Psn to) const;

 private:
  std::uint64_t covered_before(wire::Psn latest) const;

  std::uint32_t packets_;
  wire::Psn expected_;
  ReorderBuffer held_;
};

}  // namespace urnic::transport
