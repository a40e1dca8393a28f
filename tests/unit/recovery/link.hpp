// One direction of a link: a rate, a delay, and everything that may happen to a packet on the way.
//
// There is no queue in front of it: who sends waits until the link is free (`free_at`), as a NIC does. A
// packet keeps its direction's order unless it is held back.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device_model/transport/selective_acks.hpp"
#include "tests/unit/recovery/chance.hpp"
#include "tests/unit/recovery/loss_process.hpp"
#include "tests/unit/recovery/picoseconds.hpp"
#include "tests/unit/recovery/ring.hpp"
#include "wire/headers.hpp"

namespace urnic::transport::lab {

// A packet on the way. Payloads have a length only.
struct Flight {
  Picoseconds arrival{0};
  std::uint64_t order = 0;  // of sending, from 0
  std::uint32_t payload = 0;
  wire::TransportHeaders headers;
  SelectiveAcks selective_acks = SelectiveAcks::no;
};

struct LinkSettings {
  double bits_per_second = 100e9;
  Picoseconds delay = std::chrono::microseconds(5);
  LossSettings loss;               // of every kind of packet
  double acknowledge_loss = 0;     // share of the acknowledgements (not NAKs) lost beside that
  double nak_loss = 0;             // share of the NAKs
  double duplication = 0;          // share of packets that arrive twice, one right behind the other
  double reordering = 0;           // share of packets that are held back
  Picoseconds held_back_least{0};  // for how long: drawn evenly
  Picoseconds held_back_most{0};
  // If set and true for a packet, it is lost. `order` counts the packets sent in this direction from 0.
  std::function<bool(const wire::TransportHeaders& headers, std::uint64_t order, Picoseconds now)> drop;
};

// Bytes of the frame from the Ethernet header to the ICRC, as a capture shows it: Ethernet 14, IPv4 20, UDP
// 8, BTH and extended headers, payload filled to a multiple of four, ICRC 4. Preamble, frame check sequence
// and gap are not counted.
std::uint32_t frame_bytes(const wire::TransportHeaders& headers, std::uint32_t payload);

class Link {
 public:
  enum class Fate : std::uint8_t { on_its_way, held_back, lost };

  Link(const LinkSettings& settings, std::uint64_t seed);

  // A packet that is on its way keeps the fate that it has.
  LinkSettings& settings() { return settings_; }

  // Takes a packet at `now`, or as soon as the link is free.
  Fate send(const wire::TransportHeaders& headers, std::uint32_t payload, Picoseconds now,
            SelectiveAcks selective_acks = SelectiveAcks::no);
  // When the last bit of what was sent has left.
  Picoseconds free_at() const { return free_at_; }

  // When the next packet arrives; kNever if none is on its way.
  Picoseconds next_arrival() const;
  // The packet that arrives next; there must be one. Valid until the next call of `send` or `take`.
  const Flight& take();

  std::uint64_t sent() const { return sent_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }
  std::uint64_t lost() const { return lost_; }

 private:
  bool loses(const wire::TransportHeaders& headers, Picoseconds now);
  Picoseconds slot(std::uint32_t bytes) const;

  LinkSettings settings_;
  Chance chance_;
  LossProcess loss_;
  Picoseconds free_at_{0};
  Ring<Flight> in_order_;
  std::vector<Flight> held_back_;  // a heap, the earliest first
  Flight taken_;
  std::uint64_t sent_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace urnic::transport::lab
