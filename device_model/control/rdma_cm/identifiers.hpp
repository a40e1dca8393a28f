// All identifiers of all programs, their multicast groups, and the way from a connection or a service to the
// identifier.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "device_model/cm/connection_manager.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/rdma_cm/channel.hpp"
#include "device_model/control/rdma_cm/event.hpp"
#include "device_model/control/rdma_cm/id.hpp"
#include "device_model/control/rdma_cm/identifier_changes.hpp"
#include "device_model/control/rdma_cm/number_table.hpp"
#include "device_model/control/rdma_cm/ports.hpp"

namespace urnic::control::rdma_cm {

using Clock = std::function<cm::Time()>;

class Identifiers {
 public:
  // All outlive it.
  Identifiers(Fabric& fabric, cm::ConnectionManager& connections, Clock now, std::uint64_t seed)
      : fabric_(fabric), connections_(connections), now_(std::move(now)), ports_(seed) {}
  ~Identifiers();
  Identifiers(const Identifiers&) = delete;
  Identifiers& operator=(const Identifiers&) = delete;

  Fabric& fabric() { return fabric_; }
  cm::ConnectionManager& connections() { return connections_; }
  cm::Time now() const { return now_(); }
  Ports& ports() { return ports_; }
  IdentifierChanges& changes() { return changes_; }
  const IdentifierChanges& changes() const { return changes_; }

  // Makes an identifier of the channel, charged to the one who has opened it. Throws std::system_error at the
  // limit.
  Id& create(Channel& channel, PortSpace space, QpType qp_type);
  // Whoever changes something of it says so in `changes`.
  Id* find(std::uint32_t number) const { return ids_.find(number); }
  // Ends whatever the identifier has under way, takes its events away, and destroys it.
  void destroy(Id& id);
  // Destroys the identifiers at the port whose programs are gone. True: there were some.
  bool destroy_gone_owners(PortSpace space, std::uint16_t port);
  // Moves the identifier and its events to another channel.
  void migrate(Id& id, Channel& channel);

  Multicast& join(Id& id, std::uint64_t uid);
  Multicast* find_multicast(std::uint32_t number) const { return multicasts_.find(number); }
  void leave(Multicast& multicast);

  // Queues an event of the identifier; nothing while the program does not know the identifier.
  void post(Id& id, const rdma_ucm_event_resp& answer);
  void post(Id& id, EventType type, int status = 0);
  void post(Multicast& multicast, rdma_ucm_event_resp answer);
  // Queues the request that has become `request`, which `listener` has room for.
  void post_request(Id& listener, Id& request, rdma_ucm_event_resp answer);
  // The next event of a channel, counted as reported.
  std::optional<Event> take_event(Channel& channel);
  // Counts the event that went with its token, if the program has taken it.
  void settle(Channel& channel);
  // So that the object's `events_reported` stays: also takes the event back that has gone with its token.
  void settle_for_good(const Id& id);
  void settle_for_good(const Multicast& multicast);

  // Listens with the identifier, which has its port. 0, or ENOMEM.
  int listen(Id& id);
  std::span<Id* const> listeners(wire::mad::ServiceId service) const;

  // In no particular order.
  void for_each_listener(const std::function<void(const Id&)>& visit) const;

  void connect(Id& id, cm::CommunicationId connection);
  // The connection manager does not know the connection any more.
  void forget_connection(Id& id);
  // Null: the identifier is gone.
  Id* find(cm::CommunicationId connection) const;

  std::size_t count() const { return ids_.count(); }
  // No identifier has this number or a higher one.
  std::uint32_t end_number() const { return ids_.end_number(); }

 private:
  void stop_listening(Id& id);
  void drop_events(Id& id);
  void take_back_carried(Channel& channel);
  void reported(const Event& event);
  // The identifier of a CONNECT_REQUEST that is queued; null for other events.
  Id* unread_request(const Event& event) const;

  Fabric& fabric_;
  cm::ConnectionManager& connections_;
  Clock now_;
  Ports ports_;
  IdentifierChanges changes_;
  NumberTable<Id> ids_;
  NumberTable<Multicast> multicasts_;
  std::unordered_map<std::uint32_t, Id*> by_connection_;
  std::unordered_map<std::uint64_t, std::vector<Id*>> listeners_;
};

// The service id of an identifier's address in its port space.
wire::mad::ServiceId service_of(const Id& id, const SocketAddress& address);

}  // namespace urnic::control::rdma_cm
