#include "device_model/cm/connection_table.hpp"

namespace urnic::cm {
namespace {

template <class Map, class Key>
void release(Map& map, const Key& key, CommunicationId owner) {
  const auto found = map.find(key);
  if (found != map.end() && found->second == owner) map.erase(found);
}

}  // namespace

Connection& ConnectionTable::add(CommunicationId id) {
  Connection& connection = connections_[id];
  connection.id = id;
  return connection;
}

void ConnectionTable::remove(CommunicationId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  release_peer(found->second);
  connections_.erase(found);
}

Connection* ConnectionTable::find(CommunicationId id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : &found->second;
}

const Connection* ConnectionTable::find(CommunicationId id) const {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : &found->second;
}

Connection* ConnectionTable::find(CommunicationId id, CommunicationId remote_id) {
  Connection* const connection = find(id);
  return connection != nullptr && connection->remote_id == remote_id ? connection : nullptr;
}

Connection* ConnectionTable::find(wire::mad::Guid remote_guid, CommunicationId remote_id) {
  const auto found = by_remote_id_.find({remote_guid, remote_id});
  return found == by_remote_id_.end() ? nullptr : find(found->second);
}

Connection* ConnectionTable::find(wire::mad::Guid remote_guid, wire::Qpn remote_qpn) {
  const auto found = by_remote_qpn_.find({remote_guid, remote_qpn});
  return found == by_remote_qpn_.end() ? nullptr : find(found->second);
}

void ConnectionTable::know_peer(const Connection& connection) {
  by_remote_id_[{connection.remote_guid, connection.remote_id}] = connection.id;
  by_remote_qpn_[{connection.remote_guid, connection.remote_qpn}] = connection.id;
}

void ConnectionTable::release_qpn(const Connection& connection) {
  release(by_remote_qpn_, RemoteQpn{connection.remote_guid, connection.remote_qpn}, connection.id);
}

void ConnectionTable::release_peer(const Connection& connection) {
  release_qpn(connection);
  release(by_remote_id_, RemoteId{connection.remote_guid, connection.remote_id}, connection.id);
}

}  // namespace urnic::cm
