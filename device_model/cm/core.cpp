#include "device_model/cm/core.hpp"

#include "device_model/cm/timeouts.hpp"

namespace urnic::cm {

CommunicationId Core::new_id() {
  CommunicationId id = ids.next();
  while (connections.find(id) != nullptr || sidr_requests.contains(id)) id = ids.next();
  return id;
}

Connection& Core::add_connection() {
  Connection& connection = connections.add(new_id());
  connection.receive_psn = ids.starting_psn(connection.id);
  return connection;
}

void Core::close(Connection& connection) {
  repetitions.end(connection.id);
  connection.backlog_place.give_back();
  connections.release_peer(connection);
  connection.state = State::closed;
  if (!connection.owned) connections.remove(connection.id);
}

void Core::enter_time_wait(Connection& connection, Time now) {
  repetitions.end(connection.id);
  connection.backlog_place.give_back();
  // As in Linux the peer may use its QP for another connection at once. Its communication id stays known, for
  // late REQs.
  connections.release_qpn(connection);
  connection.state = State::time_wait;
  timers.set(connection.id, now + waiting_time(connection.ack_timeout));
}

}  // namespace urnic::cm
