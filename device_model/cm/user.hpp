// What the connection manager tells its user: the layer of rdma_cm ids.
//
// Every event names the connection by its local communication id. The user may call the manager from an
// event, also to destroy that connection. References in events are valid during the call.
#pragma once

#include <cstdint>

#include "device_model/cm/path.hpp"
#include "wire/mad/cm_connection.hpp"
#include "wire/mad/cm_service_resolution.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::cm {

using wire::mad::CommunicationId;

// What becomes of a request that the user is told of.
enum class Decision : std::uint8_t {
  keep,        // the user answers later, with reply, reject, sidr_reply or destroy
  drop,        // forgotten without an answer, so that the peer asks again (Linux: a full backlog)
  no_service,  // REJ reason 8, SIDR status 1: nobody listens at that address of the service
  refuse,      // REJ reason 28, SIDR status 2
};

// A REQ. The path leads back to the peer. Responder resources and initiator depth in `message` are as the
// peer sees them: ours are the other way round.
struct RequestEvent {
  CommunicationId id;  // of the new connection
  DeviceIndex device;
  const Path& path;
  const wire::mad::Req& message;
};

struct ReplyEvent {
  CommunicationId id;
  const wire::mad::Rep& message;
};

struct RejectEvent {
  CommunicationId id;
  const wire::mad::Rej& message;
};

// The request that never got its answer.
enum class Unanswered : std::uint8_t { request, reply, sidr_request };

enum class Disconnected : std::uint8_t { answered, timed_out };

struct SidrRequestEvent {
  CommunicationId id;  // of the new request, local
  DeviceIndex device;
  const GsiAddress& from;
  const wire::mad::SidrReq& message;
};

struct SidrReplyEvent {
  CommunicationId id;
  const wire::mad::SidrRep& message;
};

class User {
 public:
  // A REQ for a service that listens.
  virtual Decision requested(const RequestEvent& event) = 0;
  // A REP: the user answers with `ready` or `reject`.
  virtual void replied(const ReplyEvent& event) = 0;
  // Passive side: RTU came, or the user called `establish`.
  virtual void established(CommunicationId id) = 0;
  // A REJ, in any state before the disconnect; the connection is over. Reason 10 (stale), or a REJ of an
  // established connection: time_wait_over follows.
  virtual void rejected(const RejectEvent& event) = 0;
  // All repetitions of a message are spent; the connection or SIDR request is over.
  virtual void unanswered(CommunicationId id, Unanswered message) = 0;
  // A DREQ: the user answers with `disconnect` or `destroy`.
  virtual void disconnect_requested(CommunicationId id) = 0;
  // The own DREQ is answered, or never was. time_wait_over follows.
  virtual void disconnected(CommunicationId id, Disconnected how) = 0;
  // The QP may be used again.
  virtual void time_wait_over(CommunicationId id) = 0;
  virtual Decision sidr_requested(const SidrRequestEvent& event) = 0;
  // The SIDR request is over.
  virtual void sidr_replied(const SidrReplyEvent& event) = 0;

 protected:
  ~User() = default;
};

}  // namespace urnic::cm
