// One direction of the product's link for the laboratory: payloads are lengths without bytes, and single
// packets can be lost on purpose.
//
// There is no queue in front of it: a sender waits until the link is free (`free_at`), as a NIC does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "device_model/link/link_settings.hpp"
#include "device_model/transport/selective_acks.hpp"
#include "device_model/transport/time.hpp"
#include "tests/unit/transport_bench/packet_link.hpp"
#include "wire/headers.hpp"

namespace urnic::transport::lab {

// A packet under way.
struct Flight {
  std::uint32_t payload = 0;
  wire::TransportHeaders headers;
  SelectiveAcks selective_acks = SelectiveAcks::no;
};

// An ACK or a NAK.
inline bool is_acknowledge(const wire::TransportHeaders& headers) {
  return headers.bth.opcode.operation() == wire::Operation::acknowledge;
}

struct LinkSettings {
  // The product's; its seed is the laboratory's.
  link::LinkSettings impairments{.rate_gbps = 100, .delay = std::chrono::microseconds(5)};
  double acknowledge_loss = 0;  // share of the acknowledgements (not NAKs) lost beside that
  double nak_loss = 0;          // share of the NAKs
  // If set and true for a packet, it is lost. `order` counts the packets sent in this direction from 0.
  std::function<bool(const wire::TransportHeaders& headers, std::uint64_t order, Nanoseconds now)> drop;
};

// `loss` is the share of packets that are lost in the long run. `mean_burst` above 1 makes it a
// Gilbert-Elliott process: a good state that loses nothing and a bad one that loses everything and lasts
// `mean_burst` packets on average. 1 loses each packet by itself.
struct LossSettings {
  double loss = 0;
  double mean_burst = 1;
};
void set_loss(link::LinkSettings& impairments, const LossSettings& loss);

// Bytes of the frame from the Ethernet header to the ICRC, as a capture shows it: Ethernet 14, IPv4 20, UDP
// 8, BTH and extended headers, payload filled to a multiple of four, ICRC 4.
std::uint32_t frame_bytes(const wire::TransportHeaders& headers, std::uint32_t payload);
// The same with all that the frame takes of an Ethernet line: preamble, frame check sequence and gap.
std::uint32_t line_bytes(const wire::TransportHeaders& headers, std::uint32_t payload);

class Link {
 public:
  // `side`: of the sender.
  Link(const LinkSettings& settings, std::uint64_t seed, std::size_t side);

  // For packets that are sent from now on.
  void set_delay(Nanoseconds delay);

  // Takes a packet at `now`, or as soon as the link is free.
  void send(const wire::TransportHeaders& headers, std::uint32_t payload, Time now,
            SelectiveAcks selective_acks = SelectiveAcks::no);
  // When the last bit of the last packet has left.
  Time free_at() const { return link_.free_at(); }

  // As PacketLink.
  std::optional<Time> next_arrival() { return link_.next_arrival(); }
  const Flight& take() { return link_.take(); }
  std::uint64_t lost() const { return link_.lost(); }

 private:
  bool is_to_lose(const wire::TransportHeaders& headers, Time now) const;

  LinkSettings settings_;
  std::uint64_t key_;  // of the losses of acknowledgements and NAKs
  bench::PacketLink<Flight> link_;
};

}  // namespace urnic::transport::lab
