#include "tests/unit/recovery/link.hpp"

#include "device_model/link/chance.hpp"
#include "device_model/link/egress_queue.hpp"
#include "wire/aeth.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::transport::lab {
namespace {

link::LinkSettings with_seed(link::LinkSettings settings, std::uint64_t seed) {
  settings.seed = seed;
  return settings;
}

}  // namespace

void set_loss(link::LinkSettings& impairments, const LossSettings& loss) {
  impairments.loss = loss.mean_burst > 1 ? 0 : loss.loss;
  impairments.burst_start = 0;
  if (loss.mean_burst <= 1) return;
  // The share of packets in the bad state is start / (start + end).
  impairments.burst_end = 1 / loss.mean_burst;
  impairments.burst_start = impairments.burst_end * loss.loss / (1 - loss.loss);
  impairments.burst_loss = 1;
}

std::uint32_t frame_bytes(const wire::TransportHeaders& headers, std::uint32_t payload) {
  constexpr std::uint32_t kBelow = 14 + 20 + 8;
  constexpr std::uint32_t kIcrc = 4;
  const auto transport = static_cast<std::uint32_t>(wire::transport_header_size(headers.bth.opcode));
  return kBelow + transport + ((payload + 3) & ~3u) + kIcrc;
}

std::uint32_t line_bytes(const wire::TransportHeaders& headers, std::uint32_t payload) {
  return frame_bytes(headers, payload) + link::kEthernetOverheadBytes;
}

Link::Link(const LinkSettings& settings, std::uint64_t seed, std::size_t side)
    : settings_(settings),
      key_(link::mix(seed, side)),
      link_(with_seed(settings.impairments, seed), static_cast<std::uint32_t>(side)) {}

void Link::set_delay(Nanoseconds delay) {
  link::LinkSettings settings = link_.settings();
  settings.delay = delay;
  link_.configure(settings);
}

bool Link::is_to_lose(const wire::TransportHeaders& headers, Time now) const {
  const std::uint64_t order = link_.sent();
  if (settings_.drop && settings_.drop(headers, order, now.time_since_epoch())) return true;
  if (!is_acknowledge(headers)) return false;
  const bool ack = wire::kind(headers.aeth.syndrome) == wire::AethKind::ack;
  const link::Chance chance(ack ? settings_.acknowledge_loss : settings_.nak_loss);
  return chance.happens(link::mix(key_, order));
}

void Link::send(const wire::TransportHeaders& headers, std::uint32_t payload, Time now,
                SelectiveAcks selective_acks) {
  const bool lose = is_to_lose(headers, now);
  link_.put({payload, headers, selective_acks}, link_.enter(frame_bytes(headers, payload), now, lose));
}

}  // namespace urnic::transport::lab
