#include "tests/unit/queue_pair/lossy_pair.hpp"

#include "device_model/link/frame_edits.hpp"
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

link::LinkSettings with_seed(link::LinkSettings settings, std::uint64_t seed) {
  settings.seed = seed;
  settings.delay = Nanoseconds(2000);
  settings.reorder_packets = 1 + static_cast<std::uint32_t>(seed % 12);
  settings.reorder_hold = Nanoseconds(20'000);
  return settings;
}

std::vector<std::byte> frame_of(const Packet& packet) {
  wire::NetworkHeaders network;
  network.source.bytes = network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  network.udp_source = 0xC000;
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, packet.headers, packet.payload, storage);
  std::vector<std::byte> bytes;
  for (const auto& piece : {frame.headers, frame.payload, frame.trailer}) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

// The packet as a port sees it after the link has inverted a bit; empty if a check or the ICRC finds the bit.
// A bit that neither covers may have changed.
std::optional<Packet> corrupted(const Packet& packet, std::uint64_t corruption) {
  std::vector<std::byte> bytes = frame_of(packet);
  link::corrupt_somewhere({bytes}, corruption);
  wire::ParsedFrame parsed;
  if (wire::parse(bytes, parsed) != wire::ParseError::none) return std::nullopt;
  return Packet{parsed.transport,
                {parsed.payload.begin(), parsed.payload.end()},
                packet.selective_acks,
                packet.source_port};
}

}  // namespace

bool LossyEnd::has_peer_taken() const {
  const QueuePairSnapshot now = side.qp.snapshot();
  const QpParameters& first = side.qp.parameters();
  return now.responder.expected_psn != first.receive_psn ||
         now.requester.unacknowledged_psn != first.send_psn;
}

void LossyEnd::arrive(const Packet& packet, Time now) {
  side.give(packet, now);
  if (stranger && has_peer_taken()) side.give(stranger(), now);
}

void LossyEnd::settle(Time now) {
  side.run(now);
  for (const SentPacket& sent : side.host.sent) {
    const bool request = wire::traits(sent.headers.bth.opcode).request;
    Packet packet{sent.headers, sent.payload, side.qp.selective_acks(request)};
    if (source_port != 0) {
      packet.selective_acks = SelectiveAcks::outside;
      packet.source_port = source_port;
    }
    const link::Passage passage = link_.enter(0, now);
    const std::optional<Packet> leaving =
        passage.corrupted ? corrupted(packet, passage.corruption) : std::optional(packet);
    leaving ? link_.put(*leaving, passage) : void(++dropped_as_corrupt);
  }
  side.host.sent.clear();
}

LossyPair::LossyPair(std::uint64_t seed, link::LinkSettings link, const QpParameters& parameters,
                     std::size_t memory_size, std::uint32_t slots,
                     const std::array<RecoveryMode, 2>& recovery, Nanoseconds batch, bool extended)
    : TwoEnds(Link(with_seed(link, seed), 0), Link(with_seed(link, seed), 1)), chance_(seed) {
  batch_ = batch;
  for (std::size_t i = 0; i < 2; ++i) {
    const QpService ends[] = {QpService::xrc_initiator, QpService::xrc_target};
    ends_[i] = std::make_unique<LossyEnd>(links_[i], i == 0 ? kLeft : kRight, memory_size, slots, recovery[i],
                                          extended ? ends[i] : QpService::rc);
  }
  connect(side(0), parameters, kRight);
  connect(side(1), parameters, kLeft);
}

bool LossyPair::run_for(Nanoseconds span) {
  const Time until = now_ + span;
  for (std::size_t which = 0; which < 2; ++which) {
    side(which).qp.doorbell();
    end(which).settle(now_);
  }
  Step last = Step::done;
  while (last == Step::done) {
    // A timer may be due in the very moment in which a packet arrives: either order must do.
    timers_first_ = chance_() % 2 == 0;
    last = step(until);
  }
  return last == Step::quiet;
}

}  // namespace urnic::transport::bench
