#include "device_model/transport/recovery/sack_recovery.hpp"

namespace urnic::transport {

void SackRecovery::peer_gives(SelectiveAcks selective_acks) {
  SelectiveRecovery::peer_gives(selective_acks);
  peer_reports_ = selective_acks == SelectiveAcks::yes || selective_acks == SelectiveAcks::unknown;
}

// The peer reports everything that arrives, in the order of its arrival. Responses come in the order of their
// numbers and tell only about lower ones.
void SackRecovery::acknowledged(PacketNumber until, Source source, Time now) {
  const std::optional<Scoreboard::Arrival> latest = take_acknowledgement(until, source, now);
  if (latest && peer_reports_ && source != Source::response)
    will_judge(*latest, board_.end(), Evidence::Kind::report, now);
}

bool SackRecovery::arrived(PacketRange packets, Source source, Time now) {
  if (source != Source::selective_ack) return SelectiveRecovery::arrived(packets, source, now);
  const std::optional<Scoreboard::Arrival> latest = take_arrival(packets, source, now);
  if (latest) will_judge(*latest, board_.end(), Evidence::Kind::report, now);
  return latest.has_value();
}

}  // namespace urnic::transport
