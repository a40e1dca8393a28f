// CREATE_ID, DESTROY_ID, MIGRATE_ID, GET_EVENT, WRITE_CM_EVENT.
#include <cerrno>
#include <cstring>

#include "device_model/control/rdma_cm/commands.hpp"

namespace urnic::control::rdma_cm {
namespace {

// Events of a program's own, which nobody reads meanwhile.
constexpr std::uint32_t kMaxQueuedForId = 1024;
constexpr std::uint32_t kUserEvent = 18;
constexpr std::uint32_t kInternalEvent = 19;

// False: no port space of rdma_cm.
bool queue_pair_type(const rdma_ucm_create_id& command, QpType& type) {
  switch (command.ps) {
    case RDMA_PS_TCP:
      type = QpType::rc;
      return true;
    case RDMA_PS_UDP:
    case RDMA_PS_IPOIB:
      type = QpType::ud;
      return true;
    case RDMA_PS_IB:
      type = static_cast<QpType>(command.qp_type);
      return true;
    default:
      return false;
  }
}

}  // namespace

int find_id_to_read(const Session& session, std::uint32_t number, const Id*& id) {
  id = session.identifiers.find(number);
  if (id == nullptr) return ENOENT;
  return id->channel == &session.channel ? 0 : EINVAL;
}

int find_id(Session& session, std::uint32_t number, Id*& id) {
  const Id* found = nullptr;
  if (const int error = find_id_to_read(session, number, found)) return error;
  id = session.identifiers.find(number);
  session.identifiers.changes().note(number);
  return 0;
}

int find_id_with_device(Session& session, std::uint32_t number, Id*& id) {
  if (const int error = find_id(session, number, id)) return error;
  return id->local ? 0 : EINVAL;
}

int to_errno(cm::Result result) {
  switch (result) {
    case cm::Result::ok:
      return 0;
    case cm::Result::already_connected:
      return EISCONN;
    case cm::Result::in_use:
      return EADDRINUSE;
    case cm::Result::no_room:
      return ENOMEM;
    case cm::Result::unknown_id:
    case cm::Result::wrong_state:
    case cm::Result::too_long:
      break;
  }
  return EINVAL;
}

int create_id(Session& session, const rdma_ucm_create_id& command, rdma_ucm_create_id_resp& answer) {
  QpType type{};
  if (!queue_pair_type(command, type)) return EINVAL;
  Id& id = session.identifiers.create(session.channel, static_cast<PortSpace>(command.ps), type);
  id.uid = command.uid;
  answer.id = id.number;
  return 0;
}

int destroy_id(Session& session, const rdma_ucm_destroy_id& command, rdma_ucm_destroy_id_resp& answer) {
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  session.identifiers.settle_for_good(*id);
  answer.events_reported = id->events_reported;
  session.identifiers.destroy(*id);
  return 0;
}

int migrate_id(Session& session, const rdma_ucm_migrate_id& command, rdma_ucm_migrate_resp& answer) {
  if (session.old_channel == nullptr) return EINVAL;
  Id* const id = session.identifiers.find(command.id);
  if (id == nullptr) return ENOENT;
  if (id->channel != session.old_channel) return EINVAL;
  session.identifiers.migrate(*id, session.channel);
  answer.events_reported = id->events_reported;
  return 0;
}

int get_event(Session& session, const rdma_ucm_get_event&, rdma_ucm_event_resp& answer) {
  if (session.channel.is_readers(session.token)) return abi::kEventIsTaken;
  const auto event = session.identifiers.take_event(session.channel);
  if (!event) return EAGAIN;
  answer = event->answer;
  return 0;
}

int write_event(Session& session, const WriteEventCommand& command, NoAnswer&) {
  if (command.event != kUserEvent && command.event != kInternalEvent) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  session.identifiers.settle(*id->channel);
  if (id->events_queued >= kMaxQueuedForId) return ENOMEM;
  rdma_ucm_event_resp event{};
  event.event = command.event;
  event.status = command.status;
  std::memcpy(&event.param, command.argument.data(), sizeof command.argument[0]);
  session.identifiers.post(*id, event);
  return 0;
}

}  // namespace urnic::control::rdma_cm
