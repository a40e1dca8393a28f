#include "device_model/subnet/administration/client.hpp"

#include <algorithm>
#include <vector>

namespace urnic::subnet::administration {

using wire::mad::MadHeader;
using wire::mad::MadStatus;

Patience patience_for(std::chrono::milliseconds limit) {
  constexpr unsigned kRepeats = 10;
  const std::chrono::milliseconds share = limit / kRepeats;
  if (share.count() > 0) return {share, kRepeats};
  return {std::chrono::milliseconds(1), static_cast<unsigned>(std::max<std::int64_t>(limit.count(), 0))};
}

Query::~Query() {
  if (client_ == nullptr) return;
  client_->cancel(number_);
}

// 0 is nobody's.
std::uint32_t Client::next_number() {
  do {
    ++last_number_;
  } while (last_number_ == 0 || requests_.contains(last_number_));
  return last_number_;
}

std::optional<Query> Client::start(std::uint32_t number, NodeIndex adapter, const Mad& mad, Patience patience,
                                   Time now, Done done) {
  const auto asked = host_.send(adapter, mad);
  if (!asked) return {};
  return add(number, {adapter, *asked, mad, patience, {}, std::move(done)}, now + patience.wait);
}

Query Client::pause(Nanoseconds time, Time now, Done done) {
  return add(next_number(), {0, {}, {}, {}, {}, std::move(done)}, now + time);
}

Query Client::add(std::uint32_t number, Request request, Time due) {
  const auto place = requests_.emplace(number, std::move(request)).first;
  set_deadline(number, place->second, due);
  set_timer();
  return Query(*this, number);
}

void Client::set_deadline(std::uint32_t number, Request& request, Time due) {
  deadlines_.erase({request.due, number});
  request.due = due;
  deadlines_.emplace(due, number);
}

void Client::cancel(std::uint32_t number) {
  const auto found = requests_.find(number);
  if (found == requests_.end()) return;
  deadlines_.erase({found->second.due, number});
  requests_.erase(found);
}

// As Linux's ib_find_send_mad: the answer has the request's transaction and class, and comes from the port
// that was asked.
bool Client::receive(NodeIndex adapter, Lid source, const Mad& mad) {
  MadHeader header;
  if (decode(mad, header) != wire::mad::MadError::none || !is_response(header.method)) return false;
  if (header.management_class != wire::mad::ManagementClass::subnet_administration) return false;
  if (header.transaction.value >> 32 != 0) return false;
  const auto number = static_cast<std::uint32_t>(header.transaction.value);
  const auto found = requests_.find(number);
  if (found == requests_.end() || found->second.adapter != adapter || found->second.asked != source)
    return false;
  end(number, header.status == MadStatus::ok ? Outcome::answered : Outcome::refused, mad);
  return true;
}

void Client::end(std::uint32_t number, Outcome outcome, const Mad& answer) {
  const auto ended = requests_.extract(number);
  deadlines_.erase({ended.mapped().due, number});
  set_timer();
  ended.mapped().done(outcome, answer);
}

void Client::expire(Time now) {
  std::vector<std::uint32_t> due;
  for (const auto& [deadline, number] : deadlines_) {
    if (deadline > now) break;
    due.push_back(number);
  }
  for (const std::uint32_t number : due) expire_one(number, now);
  set_timer();
}

// Who was told of another one's end may have ended it.
void Client::expire_one(std::uint32_t number, Time now) {
  const auto found = requests_.find(number);
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (request.patience.repeats == 0) return end(number, Outcome::unanswered, Mad{});
  --request.patience.repeats;
  set_deadline(number, request, now + request.patience.wait);
  // Another manager may have come meanwhile. Without one the datagram is as if it were lost.
  if (const auto asked = host_.send(request.adapter, request.mad)) request.asked = *asked;
}

std::optional<Time> Client::next_deadline() const {
  if (deadlines_.empty()) return {};
  return deadlines_.begin()->first;
}

void Client::set_timer() {
  if (const auto next = next_deadline()) host_.wake_at(*next);
}

}  // namespace urnic::subnet::administration
