#include "device_model/control/rdma_cm/dispatch.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>
#include <type_traits>

#include "device_model/control/log/log.hpp"

namespace urnic::control::rdma_cm {
namespace {

using Body = std::span<const std::byte>;

// Of rdma-core 65.
constexpr std::uint32_t kWriteEvent = 24;

struct Command {
  int (*run)(Session&, Body, Answer&) = nullptr;
  std::size_t least_body = 0;
  std::size_t least_room = 0;  // for the answer
};

// Older programs leave out the end of a body; it is zero then.
template <class CommandBody>
CommandBody read_body(Body bytes) {
  static_assert(std::is_trivially_copyable_v<CommandBody>);
  CommandBody body{};
  std::memcpy(&body, bytes.data(), std::min(bytes.size(), sizeof body));
  return body;
}

template <class CommandBody, class AnswerBody, int (*handler)(Session&, const CommandBody&, AnswerBody&)>
int run_handler(Session& session, Body bytes, Answer& answer) {
  AnswerBody body{};
  if (const int error = handler(session, read_body<CommandBody>(bytes), body)) return error;
  if constexpr (!std::is_same_v<AnswerBody, NoAnswer>) {
    static_assert(sizeof body <= abi::kMaxRdmaCmAnswer);
    answer.length = std::min(session.room, sizeof body);
    std::memcpy(answer.storage.data(), &body, answer.length);
  }
  return 0;
}

int run_query(Session& session, Body bytes, Answer& answer) {
  QueryAnswer body{};
  std::size_t length = 0;
  if (const int error = query(session, read_body<rdma_ucm_query>(bytes), body, length)) return error;
  answer.length = length;
  std::memcpy(answer.storage.data(), &body, length);
  return 0;
}

template <class CommandBody, class AnswerBody, int (*handler)(Session&, const CommandBody&, AnswerBody&)>
constexpr Command command() {
  constexpr bool answers = !std::is_same_v<AnswerBody, NoAnswer>;
  return {&run_handler<CommandBody, AnswerBody, handler>, sizeof(CommandBody),
          answers ? sizeof(AnswerBody) : 0};
}

constexpr Command with_body(Command command, std::size_t least) {
  command.least_body = least;
  return command;
}

constexpr Command with_room(Command command, std::size_t least) {
  command.least_room = least;
  return command;
}

Command find_command(std::uint32_t number) {
  switch (number) {
    case RDMA_USER_CM_CMD_CREATE_ID:
      return command<rdma_ucm_create_id, rdma_ucm_create_id_resp, create_id>();
    case RDMA_USER_CM_CMD_DESTROY_ID:
      return command<rdma_ucm_destroy_id, rdma_ucm_destroy_id_resp, destroy_id>();
    case RDMA_USER_CM_CMD_BIND_IP:
      return command<rdma_ucm_bind_ip, NoAnswer, bind_ip>();
    case RDMA_USER_CM_CMD_RESOLVE_IP:
      return command<rdma_ucm_resolve_ip, NoAnswer, resolve_ip>();
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE:
      return command<rdma_ucm_resolve_route, NoAnswer, resolve_route>();
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
      return with_room(command<rdma_ucm_query, rdma_ucm_query_route_resp, query_route>(),
                       offsetof(rdma_ucm_query_route_resp, ibdev_index));
    case RDMA_USER_CM_CMD_CONNECT:
      return with_body(command<rdma_ucm_connect, NoAnswer, connect>(), offsetof(rdma_ucm_connect, ece));
    case RDMA_USER_CM_CMD_LISTEN:
      return command<rdma_ucm_listen, NoAnswer, listen>();
    case RDMA_USER_CM_CMD_ACCEPT:
      return with_body(command<rdma_ucm_accept, NoAnswer, accept>(), offsetof(rdma_ucm_accept, ece));
    case RDMA_USER_CM_CMD_REJECT:
      return command<rdma_ucm_reject, NoAnswer, reject>();
    case RDMA_USER_CM_CMD_DISCONNECT:
      return command<rdma_ucm_disconnect, NoAnswer, disconnect>();
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return command<rdma_ucm_init_qp_attr, ib_uverbs_qp_attr, init_qp_attributes>();
    case RDMA_USER_CM_CMD_GET_EVENT:
      return with_room(command<rdma_ucm_get_event, rdma_ucm_event_resp, get_event>(),
                       offsetof(rdma_ucm_event_resp, reserved));
    case RDMA_USER_CM_CMD_SET_OPTION:
      return command<rdma_ucm_set_option, NoAnswer, set_option>();
    case RDMA_USER_CM_CMD_NOTIFY:
      return command<rdma_ucm_notify, NoAnswer, notify>();
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
      return command<rdma_ucm_join_ip_mcast, rdma_ucm_create_id_resp, join_ip_multicast>();
    case RDMA_USER_CM_CMD_LEAVE_MCAST:
      return command<rdma_ucm_destroy_id, rdma_ucm_destroy_id_resp, leave_multicast>();
    case RDMA_USER_CM_CMD_MIGRATE_ID:
      return command<rdma_ucm_migrate_id, rdma_ucm_migrate_resp, migrate_id>();
    case RDMA_USER_CM_CMD_QUERY:
      return {&run_query, sizeof(rdma_ucm_query), 0};
    case RDMA_USER_CM_CMD_BIND:
      return command<rdma_ucm_bind, NoAnswer, bind>();
    case RDMA_USER_CM_CMD_RESOLVE_ADDR:
      return command<rdma_ucm_resolve_addr, NoAnswer, resolve_address>();
    case RDMA_USER_CM_CMD_JOIN_MCAST:
      return command<rdma_ucm_join_mcast, rdma_ucm_create_id_resp, join_multicast>();
    case kWriteEvent:
      return command<WriteEventCommand, NoAnswer, write_event>();
    default:
      return {};
  }
}

int run(Session& session, const rdma_ucm_cmd_hdr& header, Body body, Answer& answer) {
  if (header.cmd == RDMA_USER_CM_CMD_GET_OPTION) return ENOSYS;
  const Command command = find_command(header.cmd);
  if (command.run == nullptr) return EINVAL;
  if (header.out < command.least_room) return ENOSPC;
  if (body.size() < command.least_body) return EINVAL;
  try {
    return command.run(session, body, answer);
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::system_error& error) {
    log::debug("{}: rdma_cm command {} refused: {}", session.channel.opener().name, header.cmd, error.what());
    return error.code().value() > 0 ? error.code().value() : EIO;
  } catch (const std::exception& error) {
    log::error("{}: rdma_cm command {} could not be handled: {}", session.channel.opener().name, header.cmd,
               error.what());
    return EIO;
  }
}

}  // namespace

void dispatch(Session& session, std::span<const std::byte> command, Answer& answer) {
  rdma_ucm_cmd_hdr header{};
  answer.length = answer.further_length = 0;
  answer.error = EINVAL;
  if (command.size() < sizeof header) return;
  std::memcpy(&header, command.data(), sizeof header);
  session.room = header.out;
  answer.error = run(session, header, command.subspan(sizeof header), answer);
  if (answer.error != 0) answer.length = 0;
}

}  // namespace urnic::control::rdma_cm
