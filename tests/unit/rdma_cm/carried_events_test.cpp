// Events that come with their tokens: whose they are when identifiers go, and what programs are told then.
#include <deque>

#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

// A program that takes events with their tokens, and the socket where those lie.
struct Carrying : Program {
  struct Token {
    std::uint32_t number = 0;
    rdma_ucm_event_resp event{};
    std::size_t further = 0;
  };
  // As the kernel counts a message.
  static constexpr std::size_t kTokenBytes = 2304;

  explicit Carrying(World& world, pid_t pid = 1000) : Program(world, pid), rdma_cm(world.rdma_cm) {
    rdma_cm.carry_events(
        channel(),
        [this](const Answer& event, std::uint32_t number) {
          Token token{number, {}, event.further_length};
          std::memcpy(&token.event, event.storage.data(), sizeof token.event);
          carried.push_back(token);
          ++sent;
          return true;
        },
        [this] { return (carried.size() + tokens) * kTokenBytes; });
  }

  void post(std::uint32_t id) {
    WriteEventCommand command{};
    command.id = id;
    command.event = 19;
    BOOST_TEST(run(24, command) == 0);
    rdma_cm.send_tokens();
  }
  // A token with its event is taken, which the device process is not told.
  Token take() {
    BOOST_REQUIRE(!carried.empty());
    const Token token = carried.front();
    carried.pop_front();
    return token;
  }
  // The program asks for the event of the token.
  int ask(const Token& token) {
    const rdma_ucm_cmd_hdr header{RDMA_USER_CM_CMD_GET_EVENT, sizeof(rdma_ucm_get_event), 336};
    std::array<std::byte, sizeof header + sizeof(rdma_ucm_get_event)> bytes{};
    std::memcpy(bytes.data(), &header, sizeof header);
    rdma_cm.execute(channel(), bytes, {}, nullptr, answer, token.number);
    return answer.error;
  }

  RdmaCm& rdma_cm;
  std::deque<Token> carried;  // unread
  unsigned sent = 0;          // with events
};

struct Counted : World {
  std::uint32_t withdrawals() { return rdma_cm.identifiers().changes().withdrawals(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(carried_events, Counted)

BOOST_AUTO_TEST_CASE(an_event_comes_with_its_token) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  for (unsigned i = 0; i < 3; ++i) {
    program.post(id);
    BOOST_TEST(program.tokens == 0u);
    const auto token = program.take();
    BOOST_TEST(token.number == i + 1);
    BOOST_TEST(token.event.event == 19u);
    BOOST_TEST(token.event.id == id);
  }
  program.expect_nothing();
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.events_reported() == 3u);
  BOOST_TEST(withdrawals() == 0u);
}

BOOST_AUTO_TEST_CASE(further_answers_come_too) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("192.0.2.2")) == 0);
  BOOST_TEST(program.carried.empty());  // before all is settled
  rdma_cm.send_tokens();
  const auto token = program.take();
  BOOST_TEST(token.event.event == static_cast<std::uint32_t>(EventType::address_resolved));
  BOOST_TEST(token.further != 0u);
}

// They may be told apart from those that the program has only as long as one is carried.
BOOST_AUTO_TEST_CASE(while_one_is_unread_others_are_asked_for) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  for (int i = 0; i < 3; ++i) program.post(id);
  BOOST_TEST(program.carried.size() == 1u);
  BOOST_TEST(program.tokens == 2u);
  program.take();
  BOOST_TEST(program.event() == 19u);
  BOOST_TEST(program.event() == 19u);
  program.expect_nothing();
  program.post(id);
  BOOST_TEST(program.carried.size() == 1u);
  program.take();
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.events_reported() == 4u);
  BOOST_TEST(withdrawals() == 0u);
}

BOOST_AUTO_TEST_CASE(what_nobody_has_read_is_taken_back) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  program.post(id);
  const auto unread = program.carried.front();
  const std::size_t before = program.tokens;
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.events_reported() == 0u);
  BOOST_TEST(withdrawals() == 1u);
  BOOST_TEST(before - program.tokens == 1u);  // to be discarded
  BOOST_TEST(program.ask(unread) == EAGAIN);  // by a thread that was faster than the one that discards
}

// It took the token before the event was taken back, and looked at the count later.
BOOST_AUTO_TEST_CASE(a_late_reader_keeps_what_was_counted_as_its) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  program.post(id);
  const auto first = program.take();
  program.post(id);
  const auto second = program.carried.front();
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.events_reported() == 1u);
  BOOST_TEST(withdrawals() == 1u);
  BOOST_TEST(program.ask(first) == abi::kEventIsTaken);
  BOOST_TEST(program.ask(second) == EAGAIN);
}

// The program discards tokens without looking.
BOOST_AUTO_TEST_CASE(another_identifiers_event_is_asked_for_once_tokens_are_discarded) {
  Carrying program(*this);
  const std::uint32_t first = program.create();
  const std::uint32_t second = program.create();
  program.post(first);
  program.post(second);
  const auto token = program.carried.front();
  BOOST_TEST(program.destroy(second) == 0);
  BOOST_TEST(program.events_reported() == 0u);
  BOOST_TEST(program.tokens == 0u);  // of two in the socket, one stays
  BOOST_TEST(program.ask(token) == 0);
  BOOST_TEST(program.read_answer<rdma_ucm_event_resp>().id == first);
  program.carried.clear();
  program.post(first);
  BOOST_TEST(program.sent == 1u);
  BOOST_TEST(program.tokens == 1u);
  program.expect(static_cast<EventType>(19), first);
  BOOST_TEST(program.destroy(first) == 0);
  BOOST_TEST(program.events_reported() == 2u);
}

BOOST_AUTO_TEST_CASE(an_unread_event_moves_with_its_identifier) {
  Carrying old(*this);
  Carrying other(*this, 1001);
  const std::uint32_t id = old.create();
  old.post(id);
  BOOST_TEST(other.migrate(id, old) == 0);
  rdma_cm.send_tokens();
  BOOST_TEST(withdrawals() == 1u);
  const auto token = other.take();
  BOOST_TEST(token.event.id == id);
  BOOST_TEST(other.destroy(id) == 0);
  BOOST_TEST(other.events_reported() == 1u);
}

BOOST_AUTO_TEST_CASE(a_request_that_was_taken_makes_room_in_the_backlog) {
  Carrying server(*this, 2000);
  Program client(*this);
  const std::uint32_t listener = server.create();
  BOOST_TEST(server.bind(listener, "192.0.2.2", 7000) == 0);
  BOOST_TEST(server.listen(listener, 1) == 0);
  const auto ask = [&] {
    const std::uint32_t id = client.create();
    BOOST_TEST(client.resolve(id, address("192.0.2.2", 7000)) == 0);
    client.expect(EventType::address_resolved, id);
    BOOST_TEST(client.resolve_route(id) == 0);
    client.expect(EventType::route_resolved, id);
    BOOST_TEST(client.connect(id, {}) == 0);
    deliver();
    rdma_cm.send_tokens();
  };
  ask();
  ask();  // nobody has read the first one
  BOOST_TEST(server.carried.size() == 1u);
  BOOST_TEST(server.tokens == 0u);
  const auto request = server.take();
  BOOST_TEST(request.event.event == static_cast<std::uint32_t>(EventType::connect_request));
  ask();
  BOOST_TEST(server.carried.size() == 1u);
  // The listener goes, and with it the request that is unread, but not the other one.
  BOOST_TEST(server.destroy(listener) == 0);
  BOOST_TEST(server.events_reported() == 1u);
  BOOST_TEST(server.destroy(request.event.id) == 0);
}

BOOST_AUTO_TEST_CASE(a_closed_channel_takes_its_events_along) {
  Carrying program(*this);
  const std::uint32_t id = program.create();
  program.post(id);
  program.post(id);
  program.close();
  rdma_cm.send_tokens();
  BOOST_TEST(rdma_cm.channels() == 0u);
  BOOST_TEST(rdma_cm.identifiers().count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
