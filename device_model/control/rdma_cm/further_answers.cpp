#include "device_model/control/rdma_cm/further_answers.hpp"

#include <infiniband/verbs.h>

#include <cstring>

#include "device_model/control/rdma_cm/event.hpp"

namespace urnic::control::rdma_cm {
namespace {

struct Question {
  std::uint16_t command;
  std::uint16_t selector;
};

constexpr std::array kOfAddress{Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_ADDR},
                                Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_GID}};
// Then the program makes a queue pair.
constexpr std::array kOfRoute{Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_PATH},
                              Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_INIT}};
constexpr std::array kOfConnection{Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_INIT},
                                   Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTR},
                                   Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTS}};
constexpr std::array kOfRequest{Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_ADDR},
                                Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_GID},
                                Question{RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_PATH},
                                Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_INIT},
                                Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTR},
                                Question{RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTS}};

// What librdmacm 33 to 65 asks when it has taken such an event, or in the calls that follow.
std::span<const Question> questions_after(EventType type) {
  switch (type) {
    case EventType::address_resolved:
      return kOfAddress;
    case EventType::route_resolved:
      return kOfRoute;
    case EventType::connect_request:
      return kOfRequest;
    case EventType::connect_response:
      return kOfConnection;
    default:
      return {};
  }
}

// Both commands begin alike: with the pointer, the identifier, and what is asked of it.
struct QuestionCommand {
  rdma_ucm_cmd_hdr header;
  rdma_ucm_query body;
};
static_assert(sizeof(rdma_ucm_init_qp_attr) == sizeof(rdma_ucm_query) &&
              offsetof(rdma_ucm_init_qp_attr, id) == offsetof(rdma_ucm_query, id) &&
              offsetof(rdma_ucm_init_qp_attr, qp_state) == offsetof(rdma_ucm_query, option));

template <class Part>
void append(Answer& answer, const Part& part) {
  std::memcpy(answer.further.data() + answer.further_length, &part, sizeof part);
  answer.further_length += sizeof part;
}

void add(Session& session, std::uint32_t id, const Question& question, Answer& answer) {
  const QuestionCommand command{{question.command, sizeof(rdma_ucm_query), abi::kMaxRdmaCmAnswer},
                                {0, id, question.selector}};
  Answer further;
  dispatch(session, std::as_bytes(std::span(&command, 1)), further);
  const std::size_t bytes = sizeof(abi::FurtherAnswer) + further.length;
  if (further.error != 0 || further.length > abi::kMaxFurtherAnswer ||
      bytes > answer.further.size() - answer.further_length)
    return;
  append(answer,
         abi::FurtherAnswer{question.command, question.selector, static_cast<std::uint32_t>(further.length)});
  std::memcpy(answer.further.data() + answer.further_length, further.storage.data(), further.length);
  answer.further_length += further.length;
}

// The active side's ACCEPT, which follows CONNECT_RESPONSE.
void add_consent(const Session& session, std::uint32_t number, Answer& answer) {
  const Id* const id = session.identifiers.find(number);
  if (id == nullptr || id->state != IdState::connect || !id->connection || is_datagram(*id)) return;
  if (!session.identifiers.connections().may_be_ready(*id->connection)) return;
  if (answer.further.size() - answer.further_length < sizeof(abi::FurtherAnswer)) return;
  append(answer, abi::FurtherAnswer{RDMA_USER_CM_CMD_ACCEPT, 0, 0});
}

}  // namespace

bool is_get_event(std::span<const std::byte> command) {
  rdma_ucm_cmd_hdr header{};
  if (command.size() < sizeof header) return false;
  std::memcpy(&header, command.data(), sizeof header);
  return header.cmd == RDMA_USER_CM_CMD_GET_EVENT;
}

void add_further_answers(Session& session, const rdma_ucm_event_resp& event, Answer& answer) {
  const std::span<const Question> questions = questions_after(static_cast<EventType>(event.event));
  if (questions.empty()) return;
  append(answer, abi::FurtherAnswers{event.id, session.identifiers.changes().of(event.id)});
  for (const Question& question : questions) add(session, event.id, question, answer);
  add_consent(session, event.id, answer);
}

}  // namespace urnic::control::rdma_cm
