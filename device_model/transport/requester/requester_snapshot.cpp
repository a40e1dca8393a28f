#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

RequesterSnapshot Requester::snapshot() const {
  RequesterSnapshot now{.recovery = shared_.recovery.mode,
                        .next_psn = psn_of(next_new_),
                        .unacknowledged_psn = psn_of(unacknowledged_),
                        .in_flight = static_cast<std::uint32_t>(in_flight()),
                        .window = congestion_window_,
                        .reads_under_way = reads_.count(),
                        .transport_retries = retries_.transport_used(shared_.parameters),
                        .waits_for_receive = rnr_wait_.is_on(),
                        .waits_for_credit = !window_.all_sent() &&
                                            flow_control_.holds_back(window_.at(window_.sending()), next_new_,
                                                                     unacknowledged_, response_expected()),
                        .selective_acks = selective_acks_.agreed(),
                        .peer_is_stranger = selective_acks_.peer_is_stranger()};
  if (ack_timer_.interval() != Nanoseconds::max()) now.ack_timeout = ack_timer_.interval();
  if (control_ != nullptr) now.congestion = control_->snapshot();
  if (selective_ == nullptr) return now;
  for (PacketNumber packet = unacknowledged_; packet < next_new_ && selective_->covers(packet);
       packet = packet + 1) {
    now.arrived_ahead += selective_->has_arrived(packet);
    now.lost += selective_->is_lost(packet);
  }
  return now;
}

}  // namespace urnic::transport
