// The connection manager (IBTA chapter 12): makes and ends connections by management datagrams, for all
// devices of the process.
//
// It has no thread, socket or clock: MADs, the user's calls and the time go in; MADs go out through `Host`,
// events through `User`. Control thread only. Bounded memory: `Settings`.
//
// A connection is named by its local communication id, which is unique, and stays the user's until `destroy`.
// So `requested` and `connect` give the user an id that it destroys once, whatever happens to the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/cm/attributes.hpp"
#include "device_model/cm/counters.hpp"
#include "device_model/cm/host.hpp"
#include "device_model/cm/parameters.hpp"
#include "device_model/cm/user.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::cm {

struct Started {
  Result result = Result::ok;
  CommunicationId id;  // if ok
};

// How much the manager holds. All zero once every listener is stopped and everything else is over.
struct Usage {
  std::size_t connections = 0;    // also those that the user has destroyed and that are not over yet
  std::size_t sidr_requests = 0;  // own ones and peers'
  std::size_t known_peers = 0;    // peers' ids and QPs
  std::size_t outstanding = 0;    // messages that wait for an answer
  std::size_t timers = 0;
  std::size_t listeners = 0;
  friend bool operator==(const Usage&, const Usage&) = default;
};

class ConnectionManager {
 public:
  // `host` and `user` outlive the manager.
  ConnectionManager(Host& host, User& user, const Settings& settings);
  ~ConnectionManager();
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  // Takes REQs and SIDR_REQs for the service on every device; `requested` chooses among addresses. `backlog`:
  // how many requests may be without an answer; those beyond are dropped, and the peer asks again.
  Result listen(ServiceId service, std::uint32_t backlog);
  // The requests that wait for an answer stay the user's.
  void stop_listening(ServiceId service);

  // Active side: sends a REQ. Leads to `replied`, `rejected` or `unanswered`.
  Started connect(const ConnectParameters& parameters, Time now);
  // Active side, after `replied`: sends the RTU. The connection is established; no event follows.
  Result ready(CommunicationId id);
  // Whether `ready` would be `ok` now.
  bool may_be_ready(CommunicationId id) const;
  // Passive side, after `requested`: sends a REP. Leads to `established`, `rejected`, `disconnect_requested`
  // or `unanswered`.
  Result reply(CommunicationId id, const ReplyParameters& parameters, Time now);
  // Passive side, when a packet of the connection came before the RTU (rdma_notify). Causes `established`.
  Result establish(CommunicationId id);
  // Sends a REJ: before the connection is established. The connection is over.
  Result reject(CommunicationId id, const RejectParameters& parameters, Time now);
  // Sends a DREQ on an established connection: leads to `disconnected`. Answers the peer's DREQ with a DREP:
  // leads to time_wait_over.
  Result disconnect(CommunicationId id, Time now);

  // Leads to `sidr_replied` or `unanswered`; the id is unknown then.
  Started sidr_request(const SidrRequestParameters& parameters, Time now);
  // Answers `sidr_requested`; the request is over then, and its id unknown.
  Result sidr_reply(CommunicationId id, const SidrReplyParameters& parameters);

  // In any state, also of a SIDR request; no event names the id afterwards. Tells the peer: REJ 4 (timeout)
  // of an own request, REJ 28 before the connection is established, DREQ afterwards, DREP if the peer has
  // sent its DREQ, SIDR status 2 for an unanswered SIDR request. DREQs are repeated as long as without
  // `destroy`. Unknown ids are ignored.
  void destroy(CommunicationId id, Time now);

  // Empty: there is no such connection.
  std::optional<Attributes> attributes(CommunicationId id) const;

  // A MAD of class 7 that arrived at queue pair 1. Anything may be in it.
  void receive(DeviceIndex device, const GsiAddress& from, const wire::mad::Mad& mad, Time now);

  // Does what is due at `now`. To be called at the time given to Host::wake_at; earlier or more often is
  // harmless.
  void expire(Time now);
  // Empty: nothing is under way.
  std::optional<Time> next_deadline() const;

  // All zero for a device that has sent and received nothing.
  Counters counters(DeviceIndex device) const;
  Usage usage() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace urnic::cm
