#include <limits>

#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

std::vector<PsnSpan> Requester::packets_in_detail() const {
  std::vector<PsnSpan> spans;
  const auto add = [&](PsnSpan::Kind kind, PacketNumber first, PacketNumber end) {
    if (first < end) append(spans, kind, psn_of(first), static_cast<std::uint32_t>(end - first));
  };
  PacketNumber packet = unacknowledged_;
  if (selective_ != nullptr) {
    for (; packet < next_new_ && selective_->covers(packet); packet = packet + 1) {
      const auto kind = selective_->has_arrived(packet) ? PsnSpan::Kind::arrived_ahead
                        : selective_->is_lost(packet)   ? PsnSpan::Kind::lost
                                                        : PsnSpan::Kind::in_flight;
      add(kind, packet, packet + 1);
    }
  } else if (const auto again = recovery_->resend(std::numeric_limits<std::uint32_t>::max());
             again && packet < next_new_) {
    add(PsnSpan::Kind::in_flight, packet, again->first);
    add(PsnSpan::Kind::lost, again->first, again->end());
    packet = again->end();
  }
  add(PsnSpan::Kind::in_flight, packet, next_new_);
  if (!window_.all_sent()) {
    const SendSlot& slot = window_.at(window_.sending());
    if (slot.packets != 0) add(PsnSpan::Kind::not_sent, next_new_, slot.end());
  }
  return spans;
}

std::vector<RunningTimer> Requester::timers_in_detail() const {
  std::vector<RunningTimer> timers;
  if (!running()) return timers;
  const auto add = [&](RunningTimer::Kind kind, std::optional<Time> deadline) {
    if (deadline) timers.push_back({kind, *deadline});
  };
  add(RunningTimer::Kind::local_ack, ack_timer_.deadline());
  add(RunningTimer::Kind::rnr, rnr_wait_.deadline());
  add(RunningTimer::Kind::credit, flow_control_.deadline());
  if (selective_ != nullptr && in_flight() != 0 && !rnr_wait_.is_on())
    add(RunningTimer::Kind::recovery, selective_->wake(nothing_new_for_suspects()));
  return timers;
}

RequesterDetail Requester::detail() const {
  RequesterDetail now;
  now.packets = packets_in_detail();
  now.timers = timers_in_detail();
  now.oldest = window_.oldest();
  now.sending = window_.sending();
  now.taken = window_.taken();
  for (std::uint32_t index = now.oldest; index != now.taken; ++index) {
    const SendSlot& slot = window_.at(index);
    const bool begun = slot.packets != 0;
    now.requests.push_back(
        {slot.request.index, begun ? psn_of(slot.first) : wire::Psn{}, slot.packets, slot.message});
  }
  if (!started_) return now;
  now.credits = flow_control_.credits_behind(last_message_);
  now.retries_left = retries_.transport_left();
  now.rnr_retries_left = retries_.rnr_left();
  const Nanoseconds round_trip = selective_ != nullptr ? selective_->round_trip() : Nanoseconds{0};
  if (round_trip != Nanoseconds{0}) now.round_trip = round_trip;
  return now;
}

}  // namespace urnic::transport
