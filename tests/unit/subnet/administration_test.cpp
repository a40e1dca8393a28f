// Requests to the subnet manager and memberships of groups, under virtual time: what is lost comes again,
// what nobody answers is given up.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "device_model/subnet/administration/client.hpp"
#include "device_model/subnet/administration/memberships.hpp"

namespace urnic::subnet::administration {
namespace {

using namespace std::chrono_literals;
using wire::mad::MadHeader;
using wire::mad::MadStatus;
using wire::mad::Method;
using wire::mad::PathRecord;

constexpr NodeIndex kAdapter = 1;
constexpr Lid kManager{7};
constexpr MadStatus kBusy{0x0001};  // IBTA 13.4.7
constexpr wire::mad::ComponentMask kComponents = 0x1234'5678'9ABC'DEF4;
constexpr wire::mad::ComponentMask kAnyQkey = kComponents & ~wire::mad::member_component::kQkey;
constexpr wire::Gid kGroup{{0xFF, 0x12, 0x40, 0x01, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0x0F, 1, 2, 3}};

// A subnet manager that answers when a test says so.
class Manager final : public Host {
 public:
  std::optional<Lid> send(NodeIndex adapter, const Mad& mad) override {
    if (lid == Lid{}) return {};
    BOOST_TEST(adapter == kAdapter);
    sent.push_back(mad);
    return lid;
  }
  void wake_at(Time deadline) override { wakes_at = deadline; }

  Lid lid = kManager;
  std::deque<Mad> sent;
  std::optional<Time> wakes_at;
};

MadHeader header_of(const Mad& mad) {
  MadHeader header;
  BOOST_TEST((decode(mad, header) == wire::mad::MadError::none));
  return header;
}

struct World {
  Manager manager;
  Time now{1s};
  Client client{manager, 40};
  Memberships memberships{client, [this] { return now; }};
  std::vector<Outcome> outcomes;
  Mad last{};

  Query ask(Patience patience = {100ms, 3}) {
    auto query = client.ask(kAdapter, Method::get, 0, PathRecord{}, patience, now,
                            [this](Outcome outcome, const Mad& mad) {
                              outcomes.push_back(outcome);
                              last = mad;
                            });
    BOOST_REQUIRE(query);
    return std::move(*query);
  }

  // Up to the deadlines that the client has asked for.
  void pass(Nanoseconds time) {
    const Time end = now + time;
    for (auto next = client.next_deadline(); next && *next <= end; next = client.next_deadline()) {
      BOOST_TEST((manager.wakes_at <= *next));
      now = *next;
      client.expire(now);
    }
    now = end;
  }

  Mad take() {
    BOOST_REQUIRE(!manager.sent.empty());
    const Mad mad = manager.sent.front();
    manager.sent.pop_front();
    return mad;
  }

  // Answers a request with what it has said.
  bool answer(Mad mad, MadStatus status = MadStatus::ok, Lid from = kManager, NodeIndex at = kAdapter) {
    MadHeader header = header_of(mad);
    header.method = static_cast<Method>(static_cast<std::uint8_t>(header.method) | 0x80);
    header.status = status;
    encode(header, mad);
    return client.receive(at, from, mad);
  }
  void answer_all() {
    while (!manager.sent.empty()) answer(take());
  }

  Membership join(std::uint8_t state = wire::mad::join_state::kFullMember, std::uint32_t qkey = 5,
                  std::shared_ptr<const int> held = {}, wire::mad::ComponentMask components = kComponents) {
    MulticastMemberRecord wanted;
    wanted.group = kGroup;
    wanted.qkey = {qkey};
    wanted.join_state = state;
    return memberships.join(
        kAdapter, {wanted, components}, std::move(held),
        [this](Outcome outcome, const MulticastMemberRecord&) { outcomes.push_back(outcome); });
  }
  void expect_request(Method method, std::uint8_t state) {
    const Mad mad = take();
    BOOST_TEST((header_of(mad).method == method));
    const auto record = wire::mad::decode_record<MulticastMemberRecord>(mad);
    BOOST_TEST((record.group == kGroup));
    BOOST_TEST(unsigned{record.join_state} == state);
    BOOST_TEST(answer(mad));
  }
  void expect_outcomes(const std::vector<Outcome>& wanted) {
    BOOST_TEST((outcomes == wanted));
    outcomes.clear();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(administration, World)

BOOST_AUTO_TEST_CASE(an_answer_ends_its_request) {
  const Query query = ask();
  const Mad request = take();
  BOOST_TEST(header_of(request).transaction.value == 41u);
  BOOST_TEST(answer(request));
  expect_outcomes({Outcome::answered});
  BOOST_TEST(header_of(last).transaction.value == 41u);
  BOOST_TEST(!answer(request));
  pass(10s);
  BOOST_TEST(manager.sent.empty());
  expect_outcomes({});
}

BOOST_AUTO_TEST_CASE(what_is_no_answer_changes_nothing) {
  const Query query = ask();
  const Mad request = take();
  BOOST_TEST(!client.receive(kAdapter, kManager, request));
  BOOST_TEST(!answer(request, MadStatus::ok, Lid{8}));
  BOOST_TEST(!answer(request, MadStatus::ok, kManager, kAdapter + 1));
  Mad other = request;
  MadHeader header = header_of(request);
  header.transaction.value |= std::uint64_t{1} << 32;
  encode(header, other);
  BOOST_TEST(!answer(other));
  header = header_of(request);
  header.management_class = wire::mad::ManagementClass::performance;
  encode(header, other);
  BOOST_TEST(!answer(other));
  expect_outcomes({});
  BOOST_TEST(answer(request));
}

BOOST_AUTO_TEST_CASE(a_refusal_is_no_answer_to_the_question) {
  const Query query = ask();
  BOOST_TEST(answer(take(), static_cast<MadStatus>(0x0300)));
  expect_outcomes({Outcome::refused});
}

BOOST_AUTO_TEST_CASE(a_request_that_was_lost_comes_again) {
  const Query query = ask();
  const Mad first = take();
  pass(99ms);
  BOOST_TEST(manager.sent.empty());
  pass(1ms);
  BOOST_TEST((take() == first));
  BOOST_TEST(answer(first));
  expect_outcomes({Outcome::answered});
}

BOOST_AUTO_TEST_CASE(a_request_without_an_answer_is_given_up) {
  const Query query = ask();
  pass(399ms);
  BOOST_TEST(manager.sent.size() == 4u);
  expect_outcomes({});
  pass(1ms);
  BOOST_TEST(manager.sent.size() == 4u);
  expect_outcomes({Outcome::unanswered});
  BOOST_TEST(client.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_request_tells_nobody) {
  { const Query query = ask(); }
  BOOST_TEST(client.size() == 0u);
  BOOST_TEST(!answer(take()));
  pass(10s);
  expect_outcomes({});
}

BOOST_AUTO_TEST_CASE(a_port_without_a_manager_cannot_ask) {
  manager.lid = {};
  BOOST_TEST(!client.ask(kAdapter, Method::get, 0, PathRecord{}, {100ms, 3}, now, {}).has_value());
  BOOST_TEST(client.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_new_manager_is_asked_from_the_next_repetition_on) {
  const Query query = ask();
  const Mad request = take();
  manager.lid = Lid{9};
  pass(100ms);
  BOOST_TEST(!answer(request, MadStatus::ok, kManager));
  BOOST_TEST(answer(request, MadStatus::ok, Lid{9}));
}

BOOST_AUTO_TEST_CASE(patience_is_linuxs) {
  const Patience usual = patience_for(2000ms);
  BOOST_TEST((usual.wait == 200ms && usual.repeats == 10));
  const Patience little = patience_for(7ms);
  BOOST_TEST((little.wait == 1ms && little.repeats == 7));
}

BOOST_AUTO_TEST_CASE(a_member_joins_and_leaves) {
  {
    const Membership member = join();
    expect_outcomes({});
    expect_request(Method::set, 1);
    expect_outcomes({Outcome::answered});
  }
  expect_request(Method::delete_record, 1);
  BOOST_TEST(memberships.groups() == 0u);
  BOOST_TEST(manager.sent.empty());
}

BOOST_AUTO_TEST_CASE(members_of_one_port_share_a_membership) {
  Membership first = join();
  Membership second = join();
  expect_request(Method::set, 1);
  expect_outcomes({Outcome::answered, Outcome::answered});
  const Membership third = join();
  expect_outcomes({Outcome::answered});
  first = {};
  second = {};
  BOOST_TEST(manager.sent.empty());
}

BOOST_AUTO_TEST_CASE(a_sender_becomes_a_full_member_and_no_more_than_is_needed) {
  const Membership sender = join(wire::mad::join_state::kSendOnlyFullMember);
  expect_request(Method::set, 8);
  {
    const Membership receiver = join();
    expect_request(Method::set, 1);
  }
  expect_request(Method::delete_record, 1);
  BOOST_TEST(memberships.groups() == 1u);
}

BOOST_AUTO_TEST_CASE(who_joins_while_the_port_leaves_joins_afterwards) {
  {
    const Membership member = join();
    expect_request(Method::set, 1);
  }
  outcomes.clear();
  const Membership next = join(wire::mad::join_state::kFullMember, 6);  // another group's Q_Key
  expect_outcomes({});
  BOOST_TEST(manager.sent.size() == 1u);
  expect_request(Method::delete_record, 1);
  expect_outcomes({});
  expect_request(Method::set, 1);
  expect_outcomes({Outcome::answered});
}

BOOST_AUTO_TEST_CASE(who_leaves_before_the_answer_leaves_after_it) {
  { const Membership member = join(); }
  BOOST_TEST(manager.sent.size() == 1u);
  expect_request(Method::set, 1);
  expect_outcomes({});
  expect_request(Method::delete_record, 1);
  BOOST_TEST(memberships.groups() == 0u);
}

// So that a program cannot make requests without limit by joining and leaving.
BOOST_AUTO_TEST_CASE(a_member_that_has_left_is_held_until_the_manager_has_answered) {
  const auto held = std::make_shared<const int>(0);
  { const Membership member = join(wire::mad::join_state::kFullMember, 5, held); }
  BOOST_TEST(held.use_count() == 2);
  expect_request(Method::set, 1);
  BOOST_TEST(held.use_count() == 2);
  expect_request(Method::delete_record, 1);
  BOOST_TEST(held.use_count() == 1);
  { const Membership member = join(wire::mad::join_state::kFullMember, 5, held); }
  pass(3300ms);
  BOOST_TEST(held.use_count() == 1);
  BOOST_TEST(client.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_member_that_has_left_is_not_held_for_others) {
  const auto held = std::make_shared<const int>(0);
  const auto other = std::make_shared<const int>(0);
  { const Membership member = join(wire::mad::join_state::kFullMember, 5, held); }
  Membership second = join(wire::mad::join_state::kFullMember, 5, other);
  BOOST_TEST(held.use_count() == 1);
  { const Membership third = join(wire::mad::join_state::kFullMember, 5, held); }
  BOOST_TEST(held.use_count() == 1);
  second = {};
  BOOST_TEST(other.use_count() == 2);
  answer_all();
  BOOST_TEST(other.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(requests_expire_in_the_order_of_their_deadlines) {
  const Query slow = ask({300ms, 0});
  const Query fast = ask({100ms, 1});
  BOOST_TEST((client.next_deadline() == now + 100ms));
  pass(100ms);
  BOOST_TEST(manager.sent.size() == 3u);
  { const Query cancelled = ask({50ms, 0}); }
  BOOST_TEST((client.next_deadline() == now + 100ms));
  pass(100ms);
  expect_outcomes({Outcome::unanswered});
  BOOST_TEST((client.next_deadline() == now + 100ms));
  BOOST_TEST(answer(manager.sent.front()));
  BOOST_TEST(!client.next_deadline().has_value());
}

BOOST_AUTO_TEST_CASE(a_manager_that_has_forgotten_a_port_is_asked_again) {
  {
    const Membership member = join();
    expect_request(Method::set, 1);
    expect_outcomes({Outcome::answered});
    memberships.join_again(kAdapter + 1);
    BOOST_TEST(manager.sent.empty());
    memberships.join_again(kAdapter);
    expect_request(Method::set, 1);
    expect_outcomes({});
  }
  expect_request(Method::delete_record, 1);
}

// As opensm does for a while when it has taken over.
BOOST_AUTO_TEST_CASE(a_busy_manager_is_asked_again_for_members_that_had_joined) {
  const Membership member = join();
  expect_request(Method::set, 1);
  expect_outcomes({Outcome::answered});
  memberships.join_again(kAdapter);
  for (const auto pause : {1s, 2s}) {
    BOOST_TEST(answer(take(), kBusy));
    pass(pause - 1ms);
    BOOST_TEST(manager.sent.empty());
    pass(1ms);
    BOOST_TEST(manager.sent.size() == 1u);
  }
  expect_request(Method::set, 1);
  pass(100s);
  BOOST_TEST(manager.sent.empty());
  expect_outcomes({});
  // The pauses begin anew.
  memberships.join_again(kAdapter);
  BOOST_TEST(answer(take(), kBusy));
  pass(1s);
  expect_request(Method::set, 1);
}

BOOST_AUTO_TEST_CASE(a_manager_that_does_not_answer_is_asked_again_for_members_that_had_joined) {
  const Membership member = join();
  answer_all();
  memberships.join_again(kAdapter);
  pass(4299ms);
  BOOST_TEST(manager.sent.size() == 11u);
  pass(1ms);
  BOOST_TEST(manager.sent.size() == 12u);
  manager.lid = {};
  memberships.join_again(kAdapter);
  manager.sent.clear();
  pass(4s);
  manager.lid = kManager;
  pass(4s);
  BOOST_TEST(!manager.sent.empty());
  expect_outcomes({Outcome::answered});
}

BOOST_AUTO_TEST_CASE(a_membership_that_is_lost_for_good_is_told) {
  const Membership member = join();
  expect_request(Method::set, 1);
  memberships.join_again(kAdapter);
  for (const auto pause : {1s, 2s, 4s, 8s, 16s, 32s}) {
    BOOST_TEST(answer(take(), kBusy));
    pass(pause);
  }
  expect_outcomes({Outcome::answered});
  BOOST_TEST(answer(take(), kBusy));
  expect_outcomes({Outcome::refused});
  BOOST_TEST(memberships.groups() == 0u);
  BOOST_TEST(client.size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_pause_ends_with_the_next_member_and_with_the_last_one) {
  {
    const Membership member = join();
    expect_request(Method::set, 1);
    expect_outcomes({Outcome::answered});
    memberships.join_again(kAdapter);
    BOOST_TEST(answer(take(), kBusy));
    for (int i = 0; i < 10; ++i) {
      const Membership next = join();
      BOOST_TEST(answer(take(), kBusy));
      expect_outcomes({Outcome::refused});  // the next one only
    }
    const Membership stranger = join(wire::mad::join_state::kFullMember, 6);
    expect_outcomes({Outcome::refused});
    BOOST_TEST(manager.sent.empty());
    BOOST_TEST(client.size() == 1u);
  }
  BOOST_TEST(memberships.groups() == 0u);
  BOOST_TEST(client.size() == 0u);
  pass(100s);
  BOOST_TEST(manager.sent.empty());
}

BOOST_AUTO_TEST_CASE(a_refused_member_is_told_and_can_join_again) {
  Membership member = join();
  BOOST_TEST(answer(take(), static_cast<MadStatus>(0x0200)));
  expect_outcomes({Outcome::refused});
  BOOST_TEST(memberships.groups() == 0u);
  member = join();
  expect_request(Method::set, 1);
  expect_outcomes({Outcome::answered});
}

BOOST_AUTO_TEST_CASE(a_member_with_another_qkey_is_refused) {
  const Membership member = join();
  answer_all();
  outcomes.clear();
  const Membership other = join(wire::mad::join_state::kFullMember, 6);
  expect_outcomes({Outcome::refused});
  BOOST_TEST(manager.sent.empty());
}

// Linux's cmp_rec: what a member does not ask for is as the group has it.
BOOST_AUTO_TEST_CASE(a_member_that_asks_for_no_qkey_joins_any_group) {
  constexpr std::uint8_t kFull = wire::mad::join_state::kFullMember;
  const Membership first = join();
  const Membership second = join(kFull, 0, {}, kAnyQkey);
  expect_request(Method::set, 1);
  const Membership third = join(kFull, 0, {}, kAnyQkey);
  expect_outcomes({Outcome::answered, Outcome::answered, Outcome::answered});
}

BOOST_AUTO_TEST_CASE(the_managers_qkey_decides_who_may_join_besides) {
  constexpr std::uint8_t kFull = wire::mad::join_state::kFullMember;
  const Membership first = join(kFull, 0, {}, kAnyQkey);
  // Before the answer nobody knows.
  const Membership early = join(kFull, 5);
  const Membership stranger = join(kFull, 6);
  expect_outcomes({Outcome::refused});
  const Mad request = take();
  auto group = wire::mad::decode_record<MulticastMemberRecord>(request);
  BOOST_TEST((first.group() == nullptr));
  group.qkey = {7};
  answer(encode_request(header_of(request), 0, group));
  expect_outcomes({Outcome::answered, Outcome::refused});
  const Membership late = join(kFull, 7);
  const Membership other = join(kFull, 5);
  expect_outcomes({Outcome::answered, Outcome::refused});
  BOOST_TEST(manager.sent.empty());
  BOOST_TEST((early.group() == nullptr));
  BOOST_REQUIRE((late.group() != nullptr));
  BOOST_TEST(late.group()->qkey.value == 7u);
}

BOOST_AUTO_TEST_CASE(a_group_that_is_another_one_after_joining_again_is_seen) {
  const Membership member = join(wire::mad::join_state::kFullMember, 0, {}, kAnyQkey);
  answer_all();
  expect_outcomes({Outcome::answered});
  memberships.join_again(kAdapter);
  const Mad request = take();
  auto group = wire::mad::decode_record<MulticastMemberRecord>(request);
  group.qkey = {8};
  answer(encode_request(header_of(request), 0, group));
  expect_outcomes({});
  BOOST_TEST(member.group()->qkey.value == 8u);
}

// Leaving needs no more than the group, the port and what it is there.
BOOST_AUTO_TEST_CASE(a_join_gives_the_components_that_its_member_gives) {
  const auto components = [](const Mad& mad) {
    wire::mad::ComponentMask mask = 0;
    for (std::size_t i = 48; i < 56; ++i) mask = mask << 8 | std::to_integer<std::uint8_t>(mad[i]);
    return mask;
  };
  {
    const Membership member = join();
    BOOST_TEST(components(manager.sent.front()) == kComponents);
    answer(take());
  }
  BOOST_TEST(components(manager.sent.front()) == 0x10003u);
}

BOOST_AUTO_TEST_CASE(a_join_without_an_answer_is_given_up) {
  const Membership member = join();
  pass(3300ms);
  BOOST_TEST(manager.sent.size() == 11u);
  expect_outcomes({Outcome::unanswered});
  BOOST_TEST(memberships.groups() == 0u);
}

BOOST_AUTO_TEST_CASE(a_port_without_a_manager_joins_nothing) {
  manager.lid = {};
  const Membership member = join();
  expect_outcomes({Outcome::no_manager});
  BOOST_TEST(memberships.groups() == 0u);
}

BOOST_AUTO_TEST_CASE(a_group_that_nobody_has_named_is_left_by_the_name_that_it_was_given) {
  {
    MulticastMemberRecord wanted;
    wanted.join_state = wire::mad::join_state::kFullMember;
    const Membership member =
        memberships.join(kAdapter, {wanted, kComponents}, {}, [](Outcome, const MulticastMemberRecord&) {});
    MulticastMemberRecord given = wire::mad::decode_record<MulticastMemberRecord>(manager.sent.front());
    BOOST_TEST((given.group == wire::Gid{}));
    given.group = kGroup;
    answer(encode_request(header_of(take()), 0, given));
  }
  expect_request(Method::delete_record, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::administration
