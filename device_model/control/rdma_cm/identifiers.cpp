#include "device_model/control/rdma_cm/identifiers.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <list>

namespace urnic::control::rdma_cm {
namespace {

// Requests that wait are counted for each listener here, and not for each service.
constexpr std::uint32_t kNoBacklog = std::numeric_limits<std::uint32_t>::max();

rdma_ucm_event_resp plain_event(EventType type, int status) {
  rdma_ucm_event_resp answer{};
  answer.event = static_cast<std::uint32_t>(type);
  answer.status = static_cast<std::uint32_t>(status);
  return answer;
}

}  // namespace

wire::mad::ServiceId service_of(const Id& id, const SocketAddress& address) {
  if (address.family == Family::ib && address.service_id != 0) return {address.service_id};
  return wire::mad::service_id({id.space, address.port});
}

Identifiers::~Identifiers() = default;

Id& Identifiers::create(Channel& channel, PortSpace space, QpType qp_type) {
  auto id = std::make_unique<Id>();
  id->charge = channel.opener().account->charge(Resource::rdma_cm_ids, 1, object_bytes::kRdmaCmId);
  id->number = ids_.next();
  id->channel = &channel;
  id->endpoints.identifier = id->number;
  id->space = space;
  id->qp_type = qp_type;
  Id& created = *id;
  changes_.note(created.number);
  channel.ids.insert(id->number);
  ids_.insert(std::move(id));
  return created;
}

void Identifiers::destroy(Id& id) {
  changes_.note(id.number);
  if (id.state == IdState::listen) stop_listening(id);
  drop_events(id);
  while (!id.groups.empty()) leave(*id.groups.back());
  if (id.connection) {
    by_connection_.erase(id.connection->value);
    connections_.destroy(*id.connection, now());
  }
  id.channel->ids.erase(id.number);
  ids_.extract(id.number);
}

// Linux closes a program's files before its parent learns of its end. Here the channel's end may still wait
// for its turn.
bool Identifiers::destroy_gone_owners(PortSpace space, std::uint16_t port) {
  bool any = false;
  for (const std::uint32_t owner : ports_.owners(space, port)) {
    Id* const id = find(owner);
    if (id == nullptr || !id->channel->opener().is_gone()) continue;
    destroy(*id);
    any = true;
  }
  return any;
}

// The program may have destroyed it without reading its event.
Id* Identifiers::unread_request(const Event& event) const {
  if (event.answer.event != static_cast<std::uint32_t>(EventType::connect_request)) return nullptr;
  Id* const request = find(event.answer.id);
  return request != nullptr && request->unread_by == event.id ? request : nullptr;
}

// Requests that the program has not read go with their listener.
void Identifiers::drop_events(Id& id) {
  settle_for_good(id);
  std::list<Event> dropped;
  id.channel->move_events(dropped, id.events_queued, [&](const Event& event) { return event.id == &id; });
  for (const Event& event : dropped) {
    if (event.multicast != nullptr) --event.multicast->events_queued;
    if (Id* const request = unread_request(event)) destroy(*request);
  }
  id.events_queued = 0;
}

void Identifiers::migrate(Id& id, Channel& channel) {
  if (id.channel == &channel) return;
  changes_.note(id.number);
  settle_for_good(id);
  std::list<Event> moved;
  id.channel->move_events(moved, id.events_queued, [&](const Event& event) { return event.id == &id; });
  id.channel->ids.erase(id.number);
  channel.ids.insert(id.number);
  id.channel = &channel;
  for (const Event& event : moved) {
    if (Id* const request = unread_request(event)) migrate(*request, channel);
  }
  channel.append(std::move(moved));
}

Multicast& Identifiers::join(Id& id, std::uint64_t uid) {
  auto multicast = std::make_unique<Multicast>();
  multicast->charge = std::make_shared<const Charge>(
      id.channel->opener().account->charge(Resource::rdma_cm_ids, 1, object_bytes::kRdmaCmId));
  multicast->number = multicasts_.next();
  multicast->uid = uid;
  multicast->id = &id;
  Multicast& joined = *multicast;
  id.groups.push_back(multicast.get());
  multicasts_.insert(std::move(multicast));
  return joined;
}

void Identifiers::leave(Multicast& multicast) {
  Id& id = *multicast.id;
  settle_for_good(multicast);
  std::list<Event> dropped;
  const auto is_its = [&](const Event& event) { return event.multicast == &multicast; };
  id.channel->move_events(dropped, multicast.events_queued, is_its);
  id.events_queued -= static_cast<std::uint32_t>(dropped.size());
  std::erase(id.groups, &multicast);
  multicasts_.extract(multicast.number);
}

void Identifiers::post(Id& id, const rdma_ucm_event_resp& answer) {
  if (id.uid == 0) return;
  Event event{answer, &id};
  event.answer.uid = id.uid;
  event.answer.id = id.number;
  ++id.events_queued;
  id.channel->push(event);
}

void Identifiers::post(Id& id, EventType type, int status) { post(id, plain_event(type, status)); }

void Identifiers::post(Multicast& multicast, rdma_ucm_event_resp answer) {
  Id& id = *multicast.id;
  if (id.uid == 0) return;
  answer.uid = multicast.uid;
  answer.id = multicast.number;
  ++id.events_queued;
  ++multicast.events_queued;
  id.channel->push({answer, &id, &multicast});
}

void Identifiers::post_request(Id& listener, Id& request, rdma_ucm_event_resp answer) {
  --listener.backlog;
  request.unread_by = &listener;
  answer.uid = listener.uid;
  answer.id = request.number;
  ++listener.events_queued;
  listener.channel->push({answer, &listener});
}

std::optional<Event> Identifiers::take_event(Channel& channel) {
  settle(channel);
  std::optional<Event> event = channel.take();
  if (event) reported(*event);
  return event;
}

void Identifiers::reported(const Event& event) {
  --event.id->events_queued;
  ++event.id->events_reported;
  if (event.multicast != nullptr) {
    --event.multicast->events_queued;
    ++event.multicast->events_reported;
  }
  if (event.answer.event == static_cast<std::uint32_t>(EventType::connect_request)) {
    ++event.id->backlog;
    if (Id* const request = unread_request(event)) request->unread_by = nullptr;
  }
}

void Identifiers::settle(Channel& channel) {
  if (const auto event = channel.taken()) reported(*event);
}

// A program that takes the token after it was said finds the event withdrawn; one that took it before has it.
void Identifiers::take_back_carried(Channel& channel) {
  if (!channel.has_carried()) return;
  changes_.note_withdrawal();
  settle(channel);
  if (channel.has_carried()) channel.take_back();
}

void Identifiers::settle_for_good(const Id& id) {
  settle(*id.channel);
  if (id.events_queued > 0) take_back_carried(*id.channel);
}

void Identifiers::settle_for_good(const Multicast& multicast) {
  settle(*multicast.id->channel);
  if (multicast.events_queued > 0) take_back_carried(*multicast.id->channel);
}

int Identifiers::listen(Id& id) {
  const wire::mad::ServiceId service = service_of(id, id.endpoints.source);
  std::vector<Id*>& listeners = listeners_[service.value];
  if (listeners.empty() && connections_.listen(service, kNoBacklog) != cm::Result::ok) {
    listeners_.erase(service.value);
    return ENOMEM;
  }
  listeners.push_back(&id);
  id.state = IdState::listen;
  return 0;
}

void Identifiers::stop_listening(Id& id) {
  const wire::mad::ServiceId service = service_of(id, id.endpoints.source);
  const auto found = listeners_.find(service.value);
  if (found == listeners_.end()) return;
  std::erase(found->second, &id);
  if (!found->second.empty()) return;
  listeners_.erase(found);
  connections_.stop_listening(service);
}

std::span<Id* const> Identifiers::listeners(wire::mad::ServiceId service) const {
  const auto found = listeners_.find(service.value);
  if (found == listeners_.end()) return {};
  return found->second;
}

void Identifiers::for_each_listener(const std::function<void(const Id&)>& visit) const {
  for (const auto& [service, listeners] : listeners_) {
    for (const Id* id : listeners) visit(*id);
  }
}

void Identifiers::connect(Id& id, cm::CommunicationId connection) {
  id.connection = connection;
  by_connection_[connection.value] = &id;
}

void Identifiers::forget_connection(Id& id) {
  if (id.connection) by_connection_.erase(id.connection->value);
  id.connection.reset();
}

Id* Identifiers::find(cm::CommunicationId connection) const {
  const auto found = by_connection_.find(connection.value);
  return found == by_connection_.end() ? nullptr : found->second;
}

}  // namespace urnic::control::rdma_cm
