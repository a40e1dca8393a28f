#include "device_model/cm/connection_manager.hpp"

#include <variant>

#include "device_model/cm/active_side.hpp"
#include "device_model/cm/core.hpp"
#include "device_model/cm/disconnection.hpp"
#include "device_model/cm/passive_side.hpp"
#include "device_model/cm/rejection.hpp"
#include "device_model/cm/sidr.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::cm {

using namespace wire::mad;

struct ConnectionManager::Impl {
  Impl(Host& host, User& user, const Settings& settings) : core(host, user, settings) {}

  void take(const Req& message, const Arrival& arrival) { passive.receive(message, arrival); }
  void take(const Mra& message, const Arrival& arrival) { rejection.receive(message, arrival); }
  void take(const Rej& message, const Arrival& arrival) { rejection.receive(message, arrival); }
  void take(const Rep& message, const Arrival& arrival) { active.receive(message, arrival); }
  void take(const Rtu& message, const Arrival& arrival) { passive.receive(message, arrival); }
  void take(const Dreq& message, const Arrival& arrival) { disconnection.receive(message, arrival); }
  void take(const Drep& message, const Arrival& arrival) { disconnection.receive(message, arrival); }
  void take(const SidrReq& message, const Arrival& arrival) { sidr.receive(message, arrival); }
  void take(const SidrRep& message, const Arrival&) { sidr.receive(message); }
  // RoCE connections have one path: as Linux, without an answer.
  void take(const Lap&, const Arrival&) {}
  void take(const Apr&, const Arrival&) {}

  void expire(CommunicationId id, Time now);
  void spent(Connection& connection, Time now);

  Core core;
  Disconnection disconnection{core};
  Rejection rejection{core};
  ActiveSide active{core, disconnection};
  PassiveSide passive{core, disconnection};
  Sidr sidr{core};
};

void ConnectionManager::Impl::expire(CommunicationId id, Time now) {
  const Repetitions::Due due = core.repetitions.expire(id, now);
  if (due == Repetitions::Due::sent_again) return;
  if (sidr.request_spent(id)) return;
  Connection& connection = *core.connections.find(id);
  if (due == Repetitions::Due::spent) return spent(connection, now);
  const bool owned = connection.owned;
  core.close(connection);
  if (owned) core.user.time_wait_over(id);
}

void ConnectionManager::Impl::spent(Connection& connection, Time now) {
  if (waits_for_reply(connection)) {
    active.request_spent(connection);
  } else if (waits_for_ready(connection)) {
    passive.reply_spent(connection);
  } else {
    disconnection.request_spent(connection, now);
  }
}

ConnectionManager::ConnectionManager(Host& host, User& user, const Settings& settings)
    : impl_(std::make_unique<Impl>(host, user, settings)) {}

ConnectionManager::~ConnectionManager() = default;

Result ConnectionManager::listen(ServiceId service, std::uint32_t backlog) {
  return impl_->core.listeners.add(service, backlog);
}

void ConnectionManager::stop_listening(ServiceId service) { impl_->core.listeners.remove(service); }

Started ConnectionManager::connect(const ConnectParameters& parameters, Time now) {
  Started started;
  started.result = impl_->active.connect(parameters, now, started.id);
  return started;
}

Result ConnectionManager::ready(CommunicationId id) { return impl_->active.ready(id); }

bool ConnectionManager::may_be_ready(CommunicationId id) const {
  const Connection* const connection = impl_->core.connections.find(id);
  return connection != nullptr && connection->state == State::reply_received;
}

Result ConnectionManager::reply(CommunicationId id, const ReplyParameters& parameters, Time now) {
  return impl_->passive.reply(id, parameters, now);
}

Result ConnectionManager::establish(CommunicationId id) { return impl_->passive.establish(id); }

Result ConnectionManager::reject(CommunicationId id, const RejectParameters& parameters, Time now) {
  return impl_->rejection.reject(id, parameters, now);
}

Result ConnectionManager::disconnect(CommunicationId id, Time now) {
  return impl_->disconnection.disconnect(id, now);
}

Started ConnectionManager::sidr_request(const SidrRequestParameters& parameters, Time now) {
  Started started;
  started.result = impl_->sidr.request(parameters, now, started.id);
  return started;
}

Result ConnectionManager::sidr_reply(CommunicationId id, const SidrReplyParameters& parameters) {
  return impl_->sidr.reply(id, parameters);
}

void ConnectionManager::destroy(CommunicationId id, Time now) {
  Connection* const connection = impl_->core.connections.find(id);
  if (connection == nullptr) return impl_->sidr.destroy(id);
  if (connection->owned) impl_->disconnection.destroy(*connection, now);
}

std::optional<Attributes> ConnectionManager::attributes(CommunicationId id) const {
  const Core& core = impl_->core;
  const Connection* const connection = core.connections.find(id);
  if (connection == nullptr || !connection->owned) return std::nullopt;
  return attributes_of(*connection);
}

void ConnectionManager::receive(DeviceIndex device, const GsiAddress& from, const Mad& mad, Time now) {
  Counters& counters = impl_->core.sender.counters(device);
  MadHeader header;
  CmMessage message;
  if (decode(mad, header) != MadError::none || decode(mad, message) != MadError::none) {
    ++counters.malformed;
    return;
  }
  ++counters.received[message.index()];
  const Arrival arrival{device, from, header.transaction, now};
  std::visit([&](const auto& known) { impl_->take(known, arrival); }, message);
}

void ConnectionManager::expire(Time now) {
  while (const std::optional<CommunicationId> id = impl_->core.timers.take_due(now)) impl_->expire(*id, now);
  impl_->core.timers.woken();
}

std::optional<Time> ConnectionManager::next_deadline() const { return impl_->core.timers.earliest(); }

Counters ConnectionManager::counters(DeviceIndex device) const { return impl_->core.sender.counters(device); }

Usage ConnectionManager::usage() const {
  const Core& core = impl_->core;
  return {core.connections.size(), core.sidr_requests.size(), core.connections.peers(),
          core.repetitions.size(), core.timers.size(),        core.listeners.size()};
}

}  // namespace urnic::cm
