#include "device_model/cm/repetitions.hpp"

namespace urnic::cm {

using wire::mad::CommunicationId;

void Repetitions::begin(CommunicationId id, const Outstanding& message, Time now) {
  messages_[id] = message;
  timers_.set(id, now + message.wait);
  sender_.send(message.device, message.to, message.kind, message.mad, false);
}

void Repetitions::postpone(CommunicationId id, Nanoseconds wait, Time now) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return;
  found->second.wait = wait;
  timers_.set(id, now + wait);
}

void Repetitions::end(CommunicationId id) {
  if (messages_.erase(id) != 0) timers_.cancel(id);
}

Repetitions::Due Repetitions::expire(CommunicationId id, Time now) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return Due::none_under_way;
  Outstanding& message = found->second;
  if (message.repeats_left == 0) {
    messages_.erase(found);
    return Due::spent;
  }
  --message.repeats_left;
  timers_.set(id, now + message.wait);
  sender_.send(message.device, message.to, message.kind, message.mad, true);
  return Due::sent_again;
}

}  // namespace urnic::cm
