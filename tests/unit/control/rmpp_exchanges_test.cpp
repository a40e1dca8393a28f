// The messages of a file that are several datagrams, on a wire that loses, doubles and forges, under virtual
// time.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <deque>
#include <map>
#include <random>

#include "tests/unit/control/long_messages.hpp"

namespace urnic::control::test {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;  // of each direction

// Two files whose datagrams go through a queue, in which they can be lost, doubled and delayed.
struct Two {
  struct Side {
    explicit Side(Two& two, std::uint16_t own)
        : lid(own),
          exchanges(
              {.transmit =
                   [&two, own](const GsiAddress&, const Mad& mad) {
                     two.wire.push_back({own, mad});
                   },
               .arrived = [this](std::uint32_t, const GsiAddress&,
                                 std::vector<std::byte> message) { arrived.push_back(std::move(message)); },
               .ended = [this](const RmppMessage& message) { ended.push_back(message.sender.state()); },
               .may_send =
                   [this](std::size_t bytes) {
                     sent_bytes = bytes;
                     return bytes <= kMostBytes;
                   },
               .may_receive = [](std::size_t bytes) { return bytes <= kMostBytes; },
               .has_room = [&two] { return two.room != 0 && two.room-- != 0; }}) {}
    std::uint16_t lid;
    std::vector<std::vector<std::byte>> arrived;
    std::vector<RmppSender::State> ended;
    std::size_t sent_bytes = 0;  // as last told
    RmppExchanges exchanges;
  };
  struct OnTheWire {
    std::uint16_t from;
    Mad mad;
  };

  Side& other(std::uint16_t lid) { return lid == 1 ? second : first; }
  static GsiAddress address(std::uint16_t lid) {
    GsiAddress address;
    address.lid = lid;
    return address;
  }
  int send(Side& side, std::vector<std::byte> message, std::uint32_t timeout_ms = 0,
           std::uint32_t retries = 3) {
    UmadPacket packet;
    packet.header.timeout_ms = timeout_ms;
    packet.header.retries = retries;
    std::copy_n(message.begin(), std::min(message.size(), packet.mad.size()), packet.mad.begin());
    const GsiAddress to = address(side.lid == 1 ? 2 : 1);
    if (const int error = side.exchanges.check(packet, message.size(), to)) return error;
    side.exchanges.send(packet, std::move(message), to, now);
    return 0;
  }
  bool deliver(std::uint16_t from, const Mad& mad) {
    return other(from).exchanges.take(0, address(from), header_of_mad(mad), mad, now);
  }
  // The next one on the wire.
  Mad take_off() {
    const Mad mad = wire.front().mad;
    wire.pop_front();
    return mad;
  }
  void run() {
    while (!wire.empty()) {
      const OnTheWire next = wire.front();
      wire.pop_front();
      deliver(next.from, next.mad);
    }
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    first.exchanges.expire(now);
    second.exchanges.expire(now);
    run();
  }

  Time now = Time{} + 1h;
  unsigned room = 1U << 30;  // for so many segments
  std::deque<OnTheWire> wire;
  Side first{*this, 1};
  Side second{*this, 2};
};

Mad abort_from(Method method, RmppType type, RmppStatus status) {
  Mad mad = with_header(method);
  encode(RmppHeader{.version = 1, .type = type, .active = true, .status = status}, mad);
  return mad;
}

Mad with_transaction(Mad mad, std::uint64_t transaction) {
  MadHeader header = header_of_mad(mad);
  header.transaction.value = transaction;
  encode(header, mad);
  return mad;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rmpp_exchanges, Two)

BOOST_AUTO_TEST_CASE(a_long_message_arrives_once_and_ends_for_its_sender) {
  const auto message = message_of(50000);
  BOOST_TEST(send(first, message) == 0);
  run();
  BOOST_REQUIRE(second.arrived.size() == 1u);
  BOOST_TEST((data_of(second.arrived[0]) == data_of(message)));
  BOOST_REQUIRE(first.ended.size() == 1u);
  BOOST_TEST((first.ended[0] == RmppSender::State::acknowledged));
  BOOST_TEST(!first.exchanges.next_due());
}

// Whatever is lost or doubled, the message arrives, and once.
BOOST_DATA_TEST_CASE(losses_and_doubles_change_nothing, boost::unit_test::data::xrange(2u, 12u), every) {
  std::minstd_rand chance(every);
  const auto message = message_of(30000);
  BOOST_TEST(send(first, message, 10, 30) == 0);
  for (int turn = 0; turn < 1000 && first.ended.empty(); ++turn) {
    while (!wire.empty()) {
      const OnTheWire next = wire.front();
      wire.pop_front();
      if (chance() % every == 0) continue;
      deliver(next.from, next.mad);
      if (chance() % 3 == 0) deliver(next.from, next.mad);
    }
    now += 10ms;
    first.exchanges.expire(now);
  }
  BOOST_REQUIRE(first.ended.size() == 1u);
  BOOST_TEST((first.ended[0] == RmppSender::State::acknowledged));
  BOOST_REQUIRE(second.arrived.size() == 1u);
  BOOST_TEST((data_of(second.arrived[0]) == data_of(message)));
}

BOOST_AUTO_TEST_CASE(replies_have_the_other_directions_method_and_the_class_header) {
  BOOST_TEST(send(first, message_of(1)) == 0);
  const Mad segment = take_off();
  deliver(1, segment);
  const Mad reply = take_off();
  BOOST_TEST((header_of_mad(reply).method == kGetTable));
  BOOST_TEST(header_of_mad(reply).transaction.value == 7u);
  BOOST_TEST((rmpp_of(reply).type == RmppType::acknowledgement));
  BOOST_TEST(std::equal(reply.begin() + 36, reply.begin() + kOffset, segment.begin() + 36));
}

BOOST_AUTO_TEST_CASE(nobody_answers_and_the_sender_hears_of_it) {
  BOOST_TEST(send(first, message_of(1), 100, 1) == 0);
  wire.clear();
  now += 100ms;
  first.exchanges.expire(now);
  BOOST_TEST(wire.size() == 1u);
  wire.clear();
  now += 100ms;
  first.exchanges.expire(now);
  BOOST_TEST(wire.empty());
  BOOST_REQUIRE(first.ended.size() == 1u);
  BOOST_TEST((first.ended[0] == RmppSender::State::timed_out));
}

BOOST_AUTO_TEST_CASE(a_message_that_never_ends_is_aborted_after_forty_seconds) {
  BOOST_TEST(send(first, message_of(3 * kRoom)) == 0);
  deliver(1, take_off());
  wire.clear();
  now += 39s;
  second.exchanges.expire(now);
  BOOST_TEST(wire.empty());
  now += 1s;
  second.exchanges.expire(now);
  BOOST_REQUIRE(wire.size() == 1u);
  BOOST_TEST((rmpp_of(wire[0].mad).status == RmppStatus::total_time_too_long));
  run();
  BOOST_REQUIRE(first.ended.size() == 1u);
  BOOST_TEST((first.ended[0] == RmppSender::State::aborted));
  BOOST_TEST(!second.exchanges.next_due());
}

BOOST_AUTO_TEST_CASE(a_finished_message_is_remembered_for_ten_seconds) {
  BOOST_TEST(send(first, message_of(1)) == 0);
  const Mad segment = wire.front().mad;
  run();
  now += 9s;
  second.exchanges.expire(now);
  deliver(1, segment);
  BOOST_TEST(wire.size() == 1u);
  BOOST_TEST(second.arrived.size() == 1u);
  now += 1s;
  second.exchanges.expire(now);
  deliver(1, segment);
  BOOST_TEST(second.arrived.size() == 2u);
}

BOOST_AUTO_TEST_CASE(stop_and_abort_end_a_message) {
  const struct {
    RmppType type;
    RmppStatus status;
    bool is_legal;
  } cases[] = {{RmppType::stop, RmppStatus::resources_exhausted, true},
               {RmppType::stop, RmppStatus::unspecified, false},
               {RmppType::abort, RmppStatus::total_time_too_long, true},
               {RmppType::abort, RmppStatus::unspecified, true},
               {RmppType::abort, RmppStatus::normal, false},
               {RmppType::abort, RmppStatus{117}, false},
               {RmppType::abort, RmppStatus{128}, false}};
  for (const auto& each : cases) {
    BOOST_TEST(send(first, message_of(900)) == 0);
    wire.clear();
    deliver(2, abort_from(kGetTable, each.type, each.status));
    BOOST_TEST((first.ended.back() == RmppSender::State::aborted));
    // What no ABORT may say is told so.
    BOOST_REQUIRE(wire.size() == (each.is_legal ? 0u : 1u));
    if (!each.is_legal) BOOST_TEST((rmpp_of(take_off()).status == RmppStatus::illegal_status));
  }
}

BOOST_AUTO_TEST_CASE(an_abort_of_its_sender_ends_what_has_come) {
  BOOST_TEST(send(first, message_of(900)) == 0);
  deliver(1, take_off());
  BOOST_TEST(second.exchanges.next_due().has_value());
  deliver(1, abort_from(kGetTableResponse, RmppType::abort, RmppStatus::unspecified));
  BOOST_TEST(!second.exchanges.next_due());
}

BOOST_AUTO_TEST_CASE(nonsense_is_aborted) {
  const struct {
    RmppHeader header;
    RmppStatus why;
  } cases[] = {
      {{.version = 2, .type = RmppType::data, .active = true}, RmppStatus::unsupported_version},
      {{.version = 1, .type = RmppType{5}, .active = true}, RmppStatus::bad_type},
      {{.version = 1, .type = RmppType::none, .active = true}, RmppStatus::bad_type},
      {{.version = 1, .type = RmppType::data, .first = true, .active = true, .segment = 2},
       RmppStatus::inconsistent_first},
      {{.version = 1, .type = RmppType::acknowledgement, .active = true, .status = RmppStatus::bad_type},
       RmppStatus::illegal_status},
      {{.version = 1, .type = RmppType::acknowledgement, .active = true, .segment = 3, .length_or_window = 2},
       RmppStatus::window_too_small}};
  for (const auto& each : cases) {
    Mad mad = with_header(kGetTable);
    encode(each.header, mad);
    BOOST_TEST(deliver(2, mad));
    BOOST_REQUIRE(wire.size() == 1u);
    const Mad reply = take_off();
    BOOST_TEST((rmpp_of(reply).type == RmppType::abort));
    BOOST_TEST((rmpp_of(reply).status == each.why));
    BOOST_TEST((header_of_mad(reply).method == kGetTableResponse));
  }
}

BOOST_AUTO_TEST_CASE(a_datagram_without_the_active_flag_is_no_part) {
  Mad mad = with_header(kGetTable);
  encode(RmppHeader{}, mad);
  BOOST_TEST(!deliver(2, mad));
  BOOST_TEST(wire.empty());
}

BOOST_AUTO_TEST_CASE(a_segment_of_no_message_is_dropped) {
  deliver(1, segments_of(500)[1]);
  BOOST_TEST(wire.empty());
  BOOST_TEST(!second.exchanges.next_due());
}

// A request of several datagrams, whose answer is one, too (IBTA 13.6).
BOOST_AUTO_TEST_CASE(a_request_of_several_datagrams_is_answered_within_the_window_that_it_announces) {
  BOOST_TEST(send(first, message_of(500, kGetMulti), 1000) == 0);
  std::vector<RmppHeader> seen;
  while (!wire.empty()) {
    const OnTheWire next = wire.front();
    wire.pop_front();
    seen.push_back(rmpp_of(next.mad));
    deliver(next.from, next.mad);
  }
  BOOST_REQUIRE(second.arrived.size() == 1u);
  // The requester is ready for one segment.
  BOOST_TEST((seen.back().type == RmppType::acknowledgement));
  BOOST_TEST(seen.back().segment == 0u);
  BOOST_TEST(seen.back().length_or_window == 1u);
  auto answer = message_of(500, Method{0x94});
  BOOST_TEST(send(second, answer) == 0);
  BOOST_TEST(wire.size() == 1u);
  run();
  BOOST_REQUIRE(first.arrived.size() == 1u);
  BOOST_TEST((data_of(first.arrived[0]) == data_of(answer)));
}

BOOST_AUTO_TEST_CASE(what_a_program_may_not_write) {
  std::vector<std::byte> message = message_of(0);
  message.resize(kOffset - 1);
  BOOST_TEST(send(first, message) == EINVAL);
  BOOST_TEST(send(first, message_of(10)) == 0);
  BOOST_TEST(send(first, message_of(10)) == EINVAL);  // one with its id is under way to the same port
  for (std::size_t i = 1; i < RmppExchanges::kMostMessages; ++i) {
    auto other = message_of(10);
    other[15] = static_cast<std::byte>(i + 100);
    BOOST_REQUIRE(send(first, other) == 0);
  }
  auto one_more = message_of(10);
  one_more[15] = std::byte{99};
  BOOST_TEST(send(first, one_more) == ENOMEM);
}

// While its program's file is read, which may take turns.
BOOST_AUTO_TEST_CASE(a_message_has_its_memory_until_it_is_sent_or_withdrawn) {
  UmadPacket packet;
  packet.mad = with_header(kGetTableResponse);
  BOOST_TEST(first.exchanges.check(packet, 5000, address(2)) == 0);
  BOOST_TEST(first.sent_bytes == 5000u);
  first.exchanges.drop_agent(1);
  BOOST_TEST(first.sent_bytes == 5000u);
  first.exchanges.withdraw();
  BOOST_TEST(first.sent_bytes == 0u);
}

// However many messages peers begin, and whatever windows they ask for, memory has a bound.
BOOST_AUTO_TEST_CASE(peers_that_begin_without_end_are_told_to_stop) {
  const auto segments = segments_of(100 * kRoom);
  std::size_t stopped = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    for (const Mad& segment : segments) {
      if (rmpp_of(segment).last) continue;
      deliver(1, with_transaction(segment, i));
    }
  }
  for (const OnTheWire& each : wire) stopped += rmpp_of(each.mad).type == RmppType::stop ? 1 : 0;
  BOOST_TEST(stopped > 0u);
  BOOST_TEST(stopped >= 200u - RmppExchanges::kMostMessages);
  now += 41s;
  second.exchanges.expire(now);
  BOOST_TEST(!second.exchanges.next_due());
}

// The bound is of all together, however they interleave; so is what came before its turn.
BOOST_DATA_TEST_CASE(messages_that_grow_together_share_the_room,
                     boost::unit_test::data::make({std::size_t{0}, std::size_t{66}}), missing) {
  const auto segments = segments_of(120 * kRoom);
  std::map<std::uint64_t, std::size_t> held;
  for (std::uint64_t i = 0; i < RmppExchanges::kMostMessages; ++i) held[i] = 0;
  std::size_t most = 0;
  std::size_t now_held = 0;
  for (const Mad& segment : segments) {
    if (rmpp_of(segment).segment == missing || rmpp_of(segment).last) continue;
    for (std::uint64_t i = 0; i < RmppExchanges::kMostMessages; ++i) {
      if (!held.contains(i)) continue;
      deliver(1, with_transaction(segment, i));
      held[i] += kRoom;
      now_held += kRoom;
      for (; !wire.empty(); wire.pop_front()) {
        if (rmpp_of(wire.front().mad).type != RmppType::stop) continue;
        const auto stopped = held.extract(header_of_mad(wire.front().mad).transaction.value);
        BOOST_REQUIRE(!stopped.empty());
        now_held -= stopped.mapped();
      }
      most = std::max(most, now_held);
    }
  }
  BOOST_TEST(most <= kMostBytes);
  BOOST_TEST(most > kMostBytes / 2);
  // Those that have found room are whole in the end.
  BOOST_REQUIRE(!held.empty());
  for (const auto& [transaction, bytes] : held) {
    if (missing != 0) deliver(1, with_transaction(segments[missing - 1], transaction));
    deliver(1, with_transaction(segments.back(), transaction));
  }
  BOOST_TEST(second.arrived.size() == held.size());
}

// It ends at once, and the next request may have its id.
BOOST_AUTO_TEST_CASE(a_request_that_nobody_waits_for_any_more_ends) {
  BOOST_TEST(send(first, message_of(900, kGetMulti), 1000) == 0);
  first.exchanges.forget_request({7, ManagementClass::subnet_administration});
  BOOST_REQUIRE(first.ended.size() == 1u);
  BOOST_TEST((first.ended[0] == RmppSender::State::aborted));
  BOOST_TEST(!first.exchanges.next_due());
  BOOST_TEST(send(first, message_of(900, kGetMulti), 1000) == 0);
}

BOOST_AUTO_TEST_CASE(an_agent_that_goes_takes_its_messages_along) {
  BOOST_TEST(send(first, message_of(900)) == 0);
  deliver(1, take_off());
  first.exchanges.drop_agent(0);
  second.exchanges.drop_agent(0);
  BOOST_TEST(!first.exchanges.next_due());
  BOOST_TEST(!second.exchanges.next_due());
  BOOST_TEST(first.ended.empty());
}

// More than a turn's segments leave in turns: other work of the process comes in between.
BOOST_AUTO_TEST_CASE(long_messages_leave_in_turns) {
  BOOST_TEST(send(first, message_of(400 * kRoom)) == 0);
  deliver(1, take_off());
  wire.clear();
  Mad wide = with_header(kGetTable);
  encode(RmppHeader{.version = 1,
                    .type = RmppType::acknowledgement,
                    .active = true,
                    .segment = 1,
                    .length_or_window = 400},
         wide);
  deliver(2, wide);
  BOOST_TEST(wire.size() == RmppExchanges::kSegmentsPerTurn);
  BOOST_TEST((first.exchanges.next_due() == now));
  first.exchanges.expire(now);
  BOOST_TEST(wire.size() == 399u);
}

// What cannot leave now is not lost: it waits, and acknowledgements do not.
BOOST_AUTO_TEST_CASE(segments_wait_for_room) {
  const auto message = message_of(60 * kRoom);
  room = 1;
  BOOST_TEST(send(first, message) == 0);
  run();
  BOOST_TEST((first.exchanges.next_due() == now + RmppExchanges::kPauseForRoom));
  for (unsigned turn = 0; turn < 12; ++turn) {
    room = 5;
    pass(RmppExchanges::kPauseForRoom);
  }
  BOOST_REQUIRE(second.arrived.size() == 1u);
  BOOST_TEST((data_of(second.arrived[0]) == data_of(message)));
  BOOST_TEST((first.ended == std::vector{RmppSender::State::acknowledged}));
  BOOST_TEST(!first.exchanges.next_due());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
