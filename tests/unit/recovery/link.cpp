#include "tests/unit/recovery/link.hpp"

#include <algorithm>

#include "wire/aeth.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::transport::lab {
namespace {

// Heap order: the earliest on top; of two at once the one that was sent first.
bool later(const Flight& one, const Flight& other) {
  return one.arrival != other.arrival ? one.arrival > other.arrival : one.order > other.order;
}

}  // namespace

std::uint32_t frame_bytes(const wire::TransportHeaders& headers, std::uint32_t payload) {
  constexpr std::uint32_t kBelow = 14 + 20 + 8;
  constexpr std::uint32_t kIcrc = 4;
  const auto transport = static_cast<std::uint32_t>(wire::transport_header_size(headers.bth.opcode));
  return kBelow + transport + ((payload + 3) & ~3u) + kIcrc;
}

Link::Link(const LinkSettings& settings, std::uint64_t seed)
    : settings_(settings), chance_(seed), loss_(settings.loss) {}

Picoseconds Link::slot(std::uint32_t bytes) const {
  return Picoseconds(static_cast<std::int64_t>(8e12 * bytes / settings_.bits_per_second));
}

bool Link::loses(const wire::TransportHeaders& headers, Picoseconds now) {
  bool lost = loss_.lost(chance_);
  if (headers.bth.opcode.operation() == wire::Operation::acknowledge) {
    const bool ack = wire::kind(headers.aeth.syndrome) == wire::AethKind::ack;
    if (chance_.happens(ack ? settings_.acknowledge_loss : settings_.nak_loss)) lost = true;
  }
  return lost || (settings_.drop && settings_.drop(headers, sent_ - 1, now));
}

Link::Fate Link::send(const wire::TransportHeaders& headers, std::uint32_t payload, Picoseconds now,
                      SelectiveAcks selective_acks) {
  const std::uint32_t bytes = frame_bytes(headers, payload);
  free_at_ = std::max(free_at_, now) + slot(bytes);
  ++sent_;
  sent_bytes_ += bytes;
  const int copies = chance_.happens(settings_.duplication) ? 2 : 1;
  Fate fate = Fate::lost;
  for (int copy = 0; copy < copies; ++copy) {
    if (loses(headers, now)) {
      ++lost_;
      continue;
    }
    Flight flight{free_at_ + settings_.delay, sent_ - 1, payload, headers, selective_acks};
    if (chance_.happens(settings_.reordering)) {
      flight.arrival +=
          Picoseconds(chance_.between(settings_.held_back_least.count(), settings_.held_back_most.count()));
      held_back_.push_back(flight);
      std::push_heap(held_back_.begin(), held_back_.end(), later);
      fate = Fate::held_back;
    } else {
      in_order_.push_back(flight);
      fate = Fate::on_its_way;
    }
  }
  return fate;
}

Picoseconds Link::next_arrival() const {
  Picoseconds next = in_order_.empty() ? kNever : in_order_.front().arrival;
  if (!held_back_.empty()) next = std::min(next, held_back_.front().arrival);
  return next;
}

const Flight& Link::take() {
  if (held_back_.empty() || (!in_order_.empty() && later(held_back_.front(), in_order_.front()))) {
    taken_ = in_order_.front();
    in_order_.pop_front();
    return taken_;
  }
  std::pop_heap(held_back_.begin(), held_back_.end(), later);
  taken_ = held_back_.back();
  held_back_.pop_back();
  return taken_;
}

}  // namespace urnic::transport::lab
