#include "device_model/control/umad/pending_requests.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

namespace urnic::control {
namespace {

std::chrono::milliseconds timeout_of(const PendingRequest& request) {
  const std::chrono::milliseconds wanted(request.packet.header.timeout_ms);
  return std::max(wanted, PendingRequests::kShortestTimeout);
}

}  // namespace

int PendingRequests::check(const Key& key) const {
  if (requests_.contains(key)) return EINVAL;
  return requests_.size() >= kMost ? ENOMEM : 0;
}

void PendingRequests::add(const Key& key, const PendingRequest& request, Clock::time_point now) {
  requests_.emplace(key, request).first->second.due = now + timeout_of(request);
}

void PendingRequests::add_leaving(const Key& key, const PendingRequest& request) {
  requests_.emplace(key, request).first->second.due = Clock::time_point::max();
}

void PendingRequests::has_left(const Key& key, Clock::time_point now) {
  const auto found = requests_.find(key);
  if (found != requests_.end()) found->second.due = now + timeout_of(found->second);
}

std::optional<PendingRequest> PendingRequests::take(const Key& key, const wire::Gid& peer) {
  const auto found = requests_.find(key);
  if (found == requests_.end() || found->second.to.peer != peer) return {};
  return requests_.extract(found).mapped();
}

void PendingRequests::drop_agent(std::uint32_t id) {
  std::erase_if(requests_, [&](const auto& entry) { return entry.second.packet.header.id == id; });
}

std::optional<PendingRequests::Clock::time_point> PendingRequests::next_due() const {
  std::optional<Clock::time_point> next;
  for (const auto& [key, request] : requests_)
    if (request.due != Clock::time_point::max()) next = std::min(next.value_or(request.due), request.due);
  return next;
}

void PendingRequests::expire(Clock::time_point now, const Told& repeat, const Told& give_up) {
  std::vector<Key> due;
  for (const auto& [key, request] : requests_)
    if (request.due <= now) due.push_back(key);
  for (const Key& key : due) expire_one(key, now, repeat, give_up);
}

// What was sent for another one may have brought this one's answer.
void PendingRequests::expire_one(const Key& key, Clock::time_point now, const Told& repeat,
                                 const Told& give_up) {
  const auto found = requests_.find(key);
  if (found == requests_.end()) return;
  PendingRequest& request = found->second;
  if (request.repetitions == 0) {
    const auto over = requests_.extract(found);
    return give_up(over.mapped());
  }
  --request.repetitions;
  request.due = now + timeout_of(request);
  // Its own answer may come before `repeat` returns.
  const PendingRequest again = request;
  repeat(again);
}

}  // namespace urnic::control
