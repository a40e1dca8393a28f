// Answers that come with an event: which, and for how long they are right.
#include <infiniband/verbs.h>

#include <functional>
#include <map>
#include <utility>

#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace further_answers {

using Question = std::pair<std::uint32_t, std::uint32_t>;  // command, selector
using Bytes = std::vector<std::byte>;

const std::vector<Question> kQuestions{
    {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_ADDR}, {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_PATH},
    {RDMA_USER_CM_CMD_QUERY, RDMA_USER_CM_QUERY_GID},  {RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_INIT},
    {RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTR},      {RDMA_USER_CM_CMD_INIT_QP_ATTR, IBV_QPS_RTS}};

const Question kAccept{RDMA_USER_CM_CMD_ACCEPT, 0};  // needs no answer

// The errno and the answer's bytes.
std::pair<int, Bytes> ask(Program& program, std::uint32_t id, const Question& question) {
  const int error = program.run(question.first, rdma_ucm_query{0, id, question.second});
  return {error, {program.answer.bytes().begin(), program.answer.bytes().end()}};
}

// What came with the last event.
struct Came {
  abi::FurtherAnswers head{};
  std::map<Question, Bytes> answers;

  explicit Came(const Program& program) {
    auto rest = program.answer.further_bytes();
    if (!take(rest, head)) return;
    for (abi::FurtherAnswer one; take(rest, one); rest = rest.subspan(one.length)) {
      BOOST_REQUIRE(one.length <= rest.size());
      const auto bytes = rest.first(one.length);
      answers[{one.command, one.selector}] = {bytes.begin(), bytes.end()};
    }
    BOOST_TEST(rest.empty());
  }

 private:
  template <class Part>
  static bool take(std::span<const std::byte>& rest, Part& part) {
    if (rest.size() < sizeof part) return false;
    std::memcpy(&part, rest.data(), sizeof part);
    rest = rest.subspan(sizeof part);
    return true;
  }
};

struct Pair : World {
  Program server{*this, 2000};
  Program client{*this};

  std::uint32_t changes(std::uint32_t id) { return rdma_cm.identifiers().changes().of(id); }

  // The client's identifier and the server's: the server has accepted the client.
  std::pair<std::uint32_t, std::uint32_t> accepted() {
    listener(server, "192.0.2.2", 7000);
    const std::uint32_t id = routed(client, address("192.0.2.2", 7000));
    BOOST_TEST(client.connect(id, {}) == 0);
    deliver();
    BOOST_REQUIRE(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
    const std::uint32_t passive = server.last.id;
    BOOST_TEST(server.accept(passive, rdma_ucm_conn_param{}) == 0);
    deliver();
    return {id, passive};
  }

  // Takes the event; what came with it are the answers to `expected`, and those that the program would get.
  void check(Program& program, EventType type, const std::vector<Question>& expected,
             bool may_accept = false) {
    BOOST_REQUIRE(program.event() == static_cast<std::uint32_t>(type));
    const Came came(program);
    if (!expected.empty()) {
      BOOST_TEST(came.head.identifier == program.last.id);
      BOOST_TEST(came.head.changes == changes(program.last.id));
    }
    BOOST_TEST(came.answers.size() == expected.size() + (may_accept ? 1 : 0));
    BOOST_TEST(came.answers.contains(kAccept) == may_accept);
    for (const Question& question : expected) {
      BOOST_TEST_CONTEXT("command " << question.first << ", selector " << question.second) {
        const auto [error, bytes] = ask(program, program.last.id, question);
        BOOST_TEST(error == 0);
        BOOST_REQUIRE(came.answers.contains(question));
        BOOST_TEST((came.answers.at(question) == bytes));
      }
    }
  }
};

const std::vector<Question> kOfAddress{kQuestions[0], kQuestions[2]};
const std::vector<Question> kOfRoute{kQuestions[1], kQuestions[3]};
const std::vector<Question> kOfConnection{kQuestions[3], kQuestions[4], kQuestions[5]};

// All that a program can ask of an identifier, watched over steps that may change it.
class Watched {
 public:
  Watched(Pair& pair, Program& program, std::uint32_t id)
      : pair_(pair), program_(program), id_(id), answers_(ask_all()), changes_(pair.changes(id)) {}

  // Another answer than before must show on the page.
  void check(const std::string& step) {
    const auto answers = ask_all();
    const std::uint32_t changes = pair_.changes(id_);
    BOOST_TEST((changes != changes_ || answers == answers_), "unseen: " << step);
    changed_ += answers != answers_;
    answers_ = answers;
    changes_ = changes;
  }
  unsigned changed() const { return changed_; }

 private:
  std::vector<std::pair<int, Bytes>> ask_all() {
    std::vector<std::pair<int, Bytes>> answers;
    for (const Question& question : kQuestions) answers.push_back(ask(program_, id_, question));
    return answers;
  }

  Pair& pair_;
  Program& program_;
  std::uint32_t id_;
  std::vector<std::pair<int, Bytes>> answers_;
  std::uint32_t changes_;
  unsigned changed_ = 0;
};

}  // namespace further_answers

BOOST_FIXTURE_TEST_SUITE(further_answers, Pair)

BOOST_AUTO_TEST_CASE(each_event_brings_what_is_asked_next) {
  listener(server, "192.0.2.2", 7000);
  const std::uint32_t id = client.create();
  BOOST_TEST(client.resolve(id, address("192.0.2.2", 7000)) == 0);
  check(client, EventType::address_resolved, kOfAddress);
  BOOST_TEST(client.resolve_route(id) == 0);
  check(client, EventType::route_resolved, kOfRoute);
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  check(server, EventType::connect_request, kQuestions);
  const std::uint32_t passive = server.last.id;
  BOOST_TEST(server.accept(passive, rdma_ucm_conn_param{}) == 0);
  deliver();
  check(client, EventType::connect_response, kOfConnection, true);
  BOOST_TEST(client.accept(id, {}) == 0);
  deliver();
  check(server, EventType::established, {});
  BOOST_TEST(client.disconnect(id) == 0);
  deliver();
  check(server, EventType::disconnected, {});
}

// What the device would refuse is asked.
BOOST_AUTO_TEST_CASE(there_is_no_consent_to_accept_what_the_peer_has_ended) {
  const auto [id, passive] = accepted();
  BOOST_TEST(server.destroy(passive) == 0);
  deliver();
  BOOST_REQUIRE(client.event() == static_cast<std::uint32_t>(EventType::connect_response));
  BOOST_TEST(!Came(client).answers.contains(kAccept));
  BOOST_TEST(client.accept(id, {}) != 0);
}

BOOST_AUTO_TEST_CASE(a_message_of_the_peer_ends_the_consent_to_accept) {
  const auto [id, passive] = accepted();
  BOOST_REQUIRE(client.event() == static_cast<std::uint32_t>(EventType::connect_response));
  const Came came(client);
  BOOST_TEST(came.answers.contains(kAccept));
  BOOST_TEST(came.head.changes == changes(id));
  BOOST_TEST(server.destroy(passive) == 0);
  deliver();
  BOOST_TEST(came.head.changes != changes(id));
  // A program that has not seen it learns of it all the same.
  BOOST_TEST(client.accept(id, {}) != 0);
  const std::uint32_t told = client.event();
  BOOST_TEST((told == static_cast<std::uint32_t>(EventType::rejected) ||
              told == static_cast<std::uint32_t>(EventType::disconnected)));
}

// Their queue pairs need no attributes but the first.
BOOST_AUTO_TEST_CASE(datagrams_have_no_path_of_a_connection) {
  listener(server, "192.0.2.2", 7000, RDMA_PS_UDP);
  const std::uint32_t id = routed(client, address("192.0.2.2", 7000), {}, RDMA_PS_UDP);
  BOOST_TEST(client.connect(id, {}) == 0);
  deliver();
  check(server, EventType::connect_request, kQuestions);
}

BOOST_AUTO_TEST_CASE(a_short_event_brings_them_too) {
  const std::uint32_t id = client.create();
  BOOST_TEST(client.resolve(id, address("192.0.2.2", 7000)) == 0);
  BOOST_TEST(client.run(RDMA_USER_CM_CMD_GET_EVENT, rdma_ucm_get_event{},
                        offsetof(rdma_ucm_event_resp, reserved)) == 0);
  BOOST_TEST(Came(client).answers.size() == 2u);
}

BOOST_AUTO_TEST_CASE(other_commands_bring_none) {
  const std::uint32_t id = client.create();
  BOOST_TEST(client.answer.further_length == 0u);
  BOOST_TEST(client.resolve(id, address("192.0.2.2", 7000)) == 0);
  BOOST_TEST(client.answer.further_length == 0u);
  BOOST_TEST(client.event() == static_cast<std::uint32_t>(EventType::address_resolved));
  BOOST_TEST(client.answer.further_length != 0u);
  client.expect_nothing();
  BOOST_TEST(client.answer.further_length == 0u);
}

BOOST_AUTO_TEST_CASE(questions_change_nothing) {
  const std::uint32_t other = routed(client, address("192.0.2.2", 7000));
  const std::uint32_t id = client.create();
  BOOST_TEST(client.resolve(id, address("192.0.2.2", 7000)) == 0);
  const std::uint32_t before = changes(id);
  client.event();
  for (const Question& question : kQuestions) ask(client, id, question);
  client.run(RDMA_USER_CM_CMD_QUERY_ROUTE, rdma_ucm_query{0, id, 0});
  client.expect_nothing();
  BOOST_TEST(client.set<std::uint8_t>(other, RDMA_OPTION_ID_TOS, 3) == 0);
  BOOST_TEST(client.destroy(other) == 0);
  BOOST_TEST(server.resolve(id, address("192.0.2.2", 7000)) == EINVAL);  // another program's
  BOOST_TEST(changes(id) == before);
}

// From both ends of a connection, by commands and by what arrives.
BOOST_AUTO_TEST_CASE(no_change_goes_unseen) {
  const std::uint32_t passive = 2;  // the next number
  listener(server, "192.0.2.2", 7000);
  const std::uint32_t active = client.create();
  Watched at_client(*this, client, active);
  Watched at_server(*this, server, passive);
  const std::vector<std::pair<std::string, std::function<void()>>> steps{
      {"bind", [&] { client.bind(active, "192.0.2.1"); }},
      {"resolve address", [&] { client.resolve(active, address("192.0.2.2", 7000)); }},
      {"type of service", [&] { client.set<std::uint8_t>(active, RDMA_OPTION_ID_TOS, 8); }},
      {"resolve route", [&] { client.resolve_route(active); }},
      {"connect", [&] { client.connect(active, {}); }},
      {"deliver REQ", [&] { deliver(); }},
      {"ACK timeout", [&] { server.set<std::uint8_t>(passive, RDMA_OPTION_ID_ACK_TIMEOUT, 21); }},
      {"accept", [&] { server.accept(passive, rdma_ucm_conn_param{}); }},
      {"deliver REP", [&] { deliver(); }},
      {"ACK timeout", [&] { client.set<std::uint8_t>(active, RDMA_OPTION_ID_ACK_TIMEOUT, 21); }},
      {"ready", [&] { client.accept(active, {}); }},
      {"deliver RTU", [&] { deliver(); }},
      {"disconnect", [&] { server.disconnect(passive); }},
      {"deliver DREQ", [&] { deliver(); }},
      {"disconnect", [&] { client.disconnect(active); }},
      {"deliver DREP", [&] { deliver(); }},
      {"time wait", [&] { pass(10min); }},
      {"destroy", [&] { server.destroy(passive); }},
      {"number again", [&] { server.create(); }},
      {"destroy", [&] { client.destroy(active); }},
      {"number again", [&] { client.create(); }},
  };
  for (const auto& [name, step] : steps) {
    step();
    at_client.check("client, " + name);
    at_server.check("server, " + name);
  }
  // The test sees what it is to see.
  BOOST_TEST(at_client.changed() >= 9u);
  BOOST_TEST(at_server.changed() >= 5u);
}

BOOST_AUTO_TEST_CASE(no_failure_goes_unseen) {
  using Step = std::function<void(std::uint32_t active)>;
  const std::vector<std::pair<std::string, Step>> endings{
      {"REJ",
       [&](std::uint32_t) {
         server.reject(server.last.id);
         deliver();
       }},
      {"no answer",
       [&](std::uint32_t) {
         while (const auto next = rdma_cm.connections().next_deadline()) {
           network.waiting.clear();
           rdma_cm.connections().expire(now = *next);
         }
       }},
      {"end of the listener's program",
       [&](std::uint32_t) {
         server.close();
         deliver();
       }},
  };
  listener(server, "192.0.2.2", 7000);
  for (const auto& [name, end] : endings) {
    const std::uint32_t active = routed(client, address("192.0.2.2", 7000));
    BOOST_TEST(client.connect(active, {}) == 0);
    deliver();
    BOOST_TEST(server.event() == static_cast<std::uint32_t>(EventType::connect_request));
    Watched at_client(*this, client, active);
    end(active);
    at_client.check(name);
    BOOST_TEST(at_client.changed() == 1u, name);
    while (client.event() != Program::kNone) continue;
  }
}

BOOST_AUTO_TEST_CASE(migration_is_a_change) {
  Program other(*this);
  const std::uint32_t id = client.create();
  const std::uint32_t before = changes(id);
  BOOST_TEST(other.migrate(id, client) == 0);
  BOOST_TEST(changes(id) != before);
}

// Nobody has the address yet.
BOOST_AUTO_TEST_CASE(a_late_address_is_a_change) {
  const std::uint32_t id = client.create();
  BOOST_TEST(client.resolve(id, address("198.51.100.1", 7000), {}, 1000) == 0);
  const std::uint32_t before = changes(id);
  pass(2s);
  client.expect(EventType::address_error, id, -ETIMEDOUT);
  BOOST_TEST(changes(id) != before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
