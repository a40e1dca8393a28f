#include "tests/unit/queue_pair/lossy_pair.hpp"

#include <algorithm>
#include <utility>

#include "wire/frame.hpp"

namespace urnic::transport::bench {
namespace {

constexpr wire::Qpn kLeft{0x11};
constexpr wire::Qpn kRight{0x22};

void connect(Side& side, QpParameters parameters, wire::Qpn destination) {
  parameters.destination = destination;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
    side.qp.modify(state, parameters, Time{});
  }
}

}  // namespace

LossyPair::LossyPair(std::uint64_t seed, const LinkBehaviour& link, const QpParameters& parameters,
                     std::size_t memory_size, std::uint32_t slots,
                     const std::array<RecoveryMode, 2>& recovery)
    : chance_(seed),
      link_(link),
      left_(kLeft, memory_size, slots, recovery[0]),
      right_(kRight, memory_size, slots, recovery[1]) {
  connect(left_, parameters, kRight);
  connect(right_, parameters, kLeft);
}

bool LossyPair::happens(double probability) {
  return std::uniform_real_distribution<double>(0, 1)(chance_) < probability;
}

// What a port makes of the frame: nothing if a check or the ICRC finds the flipped bit. A bit that neither
// covers may have changed.
std::optional<Packet> LossyPair::with_a_flipped_bit(const Packet& packet) {
  wire::NetworkHeaders network;
  network.source.bytes = network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  network.udp_source = 0xC000;
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, packet.headers, packet.payload, storage);
  std::vector<std::byte> bytes;
  for (const auto& piece : {frame.headers, frame.payload, frame.trailer}) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  const std::size_t bit = std::uniform_int_distribution<std::size_t>(0, 8 * bytes.size() - 1)(chance_);
  bytes[bit / 8] ^= std::byte{1} << bit % 8;
  wire::ParsedFrame parsed;
  if (wire::parse(bytes, parsed) != wire::ParseError::none) {
    ++dropped_as_corrupt_;
    return std::nullopt;
  }
  return Packet{parsed.transport, {parsed.payload.begin(), parsed.payload.end()}, packet.selective_acks};
}

void LossyPair::launch(std::size_t to, const Packet& packet) {
  const int copies = happens(link_.duplication) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    if (happens(link_.loss)) continue;
    std::optional<Packet> arriving = packet;
    if (link_.corruption > 0 && happens(link_.corruption)) arriving = with_a_flipped_bit(packet);
    if (!arriving) continue;
    Nanoseconds delay = link_.delay;
    if (happens(link_.reordering)) {
      delay += Nanoseconds(std::uniform_int_distribution<std::int64_t>(1, link_.held_back.count())(chance_));
    }
    flights_.push({now_ + delay, order_++, to, std::move(*arriving)});
  }
}

void LossyPair::act(std::size_t which) {
  Side& one = side(which);
  one.run(now_);
  for (const SentPacket& packet : one.host.sent) {
    const bool request = wire::traits(packet.headers.bth.opcode).request;
    launch(1 - which, {packet.headers, packet.payload, one.qp.selective_acks(request)});
  }
  one.host.sent.clear();
}

std::optional<Time> LossyPair::next_event() {
  std::optional<Time> earliest;
  if (!flights_.empty()) earliest = flights_.top().arrival;
  for (std::size_t which = 0; which < 2; ++which) {
    const std::optional<Time> deadline = side(which).qp.deadline();
    if (deadline && (!earliest || *deadline < *earliest)) earliest = deadline;
  }
  return earliest;
}

bool LossyPair::run_until(Time until) {
  for (std::size_t which = 0; which < 2; ++which) {
    side(which).qp.doorbell(now_);
    act(which);
  }
  while (const std::optional<Time> event = next_event()) {
    if (*event > until) {
      now_ = until;
      return false;
    }
    now_ = std::max(now_, *event);
    // A timer may be due in the very moment in which a packet arrives: either order must do.
    if (happens(0.5)) {
      for (std::size_t which = 0; which < 2; ++which) side(which).qp.on_timer(now_);
    }
    while (!flights_.empty() && flights_.top().arrival <= now_ + link_.batch) {
      const Flight flight = flights_.top();
      flights_.pop();
      now_ = std::max(now_, flight.arrival);
      side(flight.to).give(flight.packet, now_);
    }
    for (std::size_t which = 0; which < 2; ++which) {
      side(which).qp.on_timer(now_);
      act(which);
    }
  }
  return true;
}

}  // namespace urnic::transport::bench
