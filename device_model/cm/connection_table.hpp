// All connections, found by what messages name them by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "device_model/cm/connection.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::cm {

class ConnectionTable {
 public:
  // A new connection with an id that no other has. References to connections stay valid until `remove`.
  Connection& add(CommunicationId id);
  void remove(CommunicationId id);

  // Each of these: null if there is none.
  Connection* find(CommunicationId id);
  const Connection* find(CommunicationId id) const;
  // The one that both ids name, as every message after the REP does.
  Connection* find(CommunicationId id, CommunicationId remote_id);
  // The one that the peer calls `remote_id`.
  Connection* find(wire::mad::Guid remote_guid, CommunicationId remote_id);
  // The one that uses the peer's QP, if it is not over.
  Connection* find(wire::mad::Guid remote_guid, wire::Qpn remote_qpn);

  // Makes the connection known by its remote id and remote QPN, which no other has.
  void know_peer(const Connection& connection);
  // Forgets the remote QPN: the peer may use it again.
  void release_qpn(const Connection& connection);
  // Forgets the remote id, too.
  void release_peer(const Connection& connection);

  std::size_t size() const { return connections_.size(); }
  // How many ids and QPs of peers are known.
  std::size_t peers() const { return by_remote_id_.size() + by_remote_qpn_.size(); }

 private:
  using RemoteId = std::pair<wire::mad::Guid, CommunicationId>;
  using RemoteQpn = std::pair<wire::mad::Guid, wire::Qpn>;
  std::map<CommunicationId, Connection> connections_;
  std::map<RemoteId, CommunicationId> by_remote_id_;
  std::map<RemoteQpn, CommunicationId> by_remote_qpn_;
};

}  // namespace urnic::cm
