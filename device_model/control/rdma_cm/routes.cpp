#include "device_model/control/rdma_cm/routes.hpp"

#include <cerrno>
#include <utility>

#include "device_model/control/rdma_cm/path_record.hpp"
#include "device_model/control/rdma_cm/path_to_peer.hpp"

namespace urnic::control::rdma_cm {

using subnet::administration::Outcome;

int to_errno(Outcome outcome) {
  switch (outcome) {
    case Outcome::answered:
      return 0;
    case Outcome::refused:
      return EINVAL;
    case Outcome::unanswered:
      return ETIMEDOUT;
    case Outcome::no_manager:
      return EAGAIN;
  }
  return EINVAL;
}

int Routes::start(Id& id, std::chrono::milliseconds patience) {
  if (id.local->device->adapter && administration_.exists()) return ask(id, patience);
  if (const auto path = make_path(identifiers_.fabric(), id)) {
    resolved(id, *path);
  } else {
    fail(id, ETIMEDOUT);
  }
  return 0;
}

int Routes::ask(Id& id, std::chrono::milliseconds patience) {
  const PathRequest request = path_request(id);
  auto query = administration_.client.ask(
      *id.local->device->adapter, wire::mad::Method::get, request.components, request.record,
      subnet::administration::patience_for(patience), identifiers_.now(),
      [this, number = id.number](Outcome outcome, const wire::mad::Mad& mad) {
        answered(number, outcome, mad);
      });
  if (!query) return to_errno(Outcome::no_manager);
  id.query = std::move(*query);
  id.state = IdState::route_query;
  return 0;
}

// The identifier is there: with it the query would have ended.
void Routes::answered(std::uint32_t number, Outcome outcome, const wire::mad::Mad& mad) {
  Id* const id = identifiers_.find(number);
  if (id == nullptr || id->state != IdState::route_query) return;
  identifiers_.changes().note(number);
  if (outcome != Outcome::answered) return fail(*id, to_errno(outcome));
  const auto path = to_path(wire::mad::decode_record<wire::mad::PathRecord>(mad));
  if (!path) return fail(*id, EINVAL);
  resolved(*id, *path);
}

int Routes::take(Id& id, const wire::mad::PathRecord& record) {
  if (!id.local->device->adapter) return start(id, {});
  const auto path = to_path(record);
  if (!path) return EINVAL;
  resolved(id, *path);
  return 0;
}

void Routes::resolved(Id& id, const cm::Path& path) {
  id.path = path;
  id.state = IdState::route_resolved;
  identifiers_.post(id, EventType::route_resolved);
}

// The program may ask again.
void Routes::fail(Id& id, int error) {
  id.state = IdState::address_resolved;
  identifiers_.post(id, EventType::route_error, -error);
}

}  // namespace urnic::control::rdma_cm
