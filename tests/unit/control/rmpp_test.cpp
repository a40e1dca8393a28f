// One message that is several datagrams: the sender's and the receiver's rules (IBTA 13.6), under virtual
// time.
#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tests/unit/control/long_messages.hpp"

namespace urnic::control::test {

BOOST_AUTO_TEST_SUITE(rmpp_sender)

BOOST_AUTO_TEST_CASE(the_first_and_the_last_segment_say_how_long_the_message_is) {
  const auto sent = segments_of(3 * 112);  // three NodeRecords
  BOOST_REQUIRE(sent.size() == 2);
  const RmppHeader first = rmpp_of(sent[0]);
  BOOST_TEST(first.version == 1);
  BOOST_TEST((first.type == RmppType::data));
  BOOST_TEST((first.active && first.first && !first.last));
  BOOST_TEST(first.segment == 1u);
  BOOST_TEST(first.length_or_window == 336u + 2 * 20);
  const RmppHeader last = rmpp_of(sent[1]);
  BOOST_TEST((last.active && !last.first && last.last));
  BOOST_TEST(last.segment == 2u);
  BOOST_TEST(last.length_or_window == 136u + 20);
}

BOOST_DATA_TEST_CASE(every_length_becomes_segments_with_all_headers,
                     boost::unit_test::data::make({0, 1, 199, 200, 201, 400, 401}), data) {
  const auto sent = segments_of(data);
  BOOST_TEST(sent.size() == std::max<std::size_t>((data + 199) / 200, 1));
  for (const Mad& mad : sent) BOOST_TEST(header_of_mad(mad).transaction.value == 7u);
  BOOST_TEST(rmpp_of(sent.back()).last);
  BOOST_TEST(rmpp_of(sent.back()).length_or_window == 20 + (data == 0 ? 0 : (data - 1) % 200 + 1));
}

BOOST_AUTO_TEST_CASE(no_segment_leaves_beyond_the_window) {
  RmppSender sender(message_of(10 * kRoom), {}, {});
  BOOST_TEST(all_of(sender, {}).size() == 1u);
  BOOST_TEST((sender.acknowledge(1, 4, {}) == RmppStatus::normal));
  BOOST_TEST(all_of(sender, {}).size() == 3u);
  BOOST_TEST((sender.acknowledge(2, 4, {}) == RmppStatus::normal));
  BOOST_TEST(all_of(sender, {}).empty());
  BOOST_TEST((sender.acknowledge(4, 100, {}) == RmppStatus::normal));
  BOOST_TEST(all_of(sender, {}).size() == 6u);
  BOOST_TEST((sender.acknowledge(10, 100, {}) == RmppStatus::normal));
  BOOST_TEST((sender.state() == RmppSender::State::acknowledged));
}

BOOST_AUTO_TEST_CASE(an_old_acknowledgement_changes_nothing) {
  RmppSender sender(message_of(10 * kRoom), {}, {});
  all_of(sender, {});
  sender.acknowledge(1, 5, {});
  all_of(sender, {});
  BOOST_TEST((sender.acknowledge(5, 8, {}) == RmppStatus::normal));
  BOOST_TEST((sender.acknowledge(1, 5, {}) == RmppStatus::normal));
  BOOST_TEST(all_of(sender, {}).size() == 3u);
}

BOOST_AUTO_TEST_CASE(an_acknowledgement_that_cannot_be_aborts_the_message) {
  RmppSender narrow(message_of(10 * kRoom), {}, {});
  BOOST_TEST((narrow.acknowledge(1, 0, {}) == RmppStatus::window_too_small));
  BOOST_TEST((narrow.state() == RmppSender::State::aborted));
  RmppSender beyond_the_window(message_of(10 * kRoom), {}, {});
  BOOST_TEST((beyond_the_window.acknowledge(2, 5, {}) == RmppStatus::segment_too_big));
  RmppSender beyond_the_end(message_of(kRoom), {.window = 9}, {});
  BOOST_TEST((beyond_the_end.acknowledge(2, 9, {}) == RmppStatus::segment_too_big));
  BOOST_TEST(!beyond_the_end.next({}));
}

BOOST_AUTO_TEST_CASE(without_an_acknowledgement_segments_leave_again_then_it_gives_up) {
  const Time start{};
  RmppSender sender(message_of(4 * kRoom), {.wait = 100ms, .retries = 2}, start);
  all_of(sender, start);
  sender.acknowledge(1, 4, start);
  BOOST_TEST(all_of(sender, start).size() == 3u);
  sender.acknowledge(2, 4, start + 50ms);
  sender.expire(start + 149ms);
  BOOST_TEST(all_of(sender, start + 149ms).empty());
  sender.expire(start + 150ms);
  const auto again = all_of(sender, start + 150ms);
  BOOST_REQUIRE(again.size() == 2u);  // behind what is acknowledged
  BOOST_TEST(rmpp_of(again[0]).segment == 3u);
  sender.expire(start + 250ms);
  BOOST_TEST(all_of(sender, start + 250ms).size() == 2u);
  sender.expire(start + 350ms);
  BOOST_TEST((sender.state() == RmppSender::State::timed_out));
}

BOOST_AUTO_TEST_CASE(progress_gives_all_retries_back) {
  Time now{};
  RmppSender sender(message_of(20 * kRoom), {.wait = 100ms, .retries = 1}, now);
  for (std::uint32_t i = 1; i <= 20; ++i) {
    BOOST_TEST(all_of(sender, now).size() == 1u);
    now += 100ms;
    sender.expire(now);
    BOOST_TEST(all_of(sender, now).size() == 1u);
    sender.acknowledge(i, i + 1, now);
  }
  BOOST_TEST((sender.state() == RmppSender::State::acknowledged));
}

BOOST_AUTO_TEST_CASE(nobody_waits_longer_than_two_seconds_for_an_acknowledgement) {
  for (const auto wanted : {0ms, 60000ms}) {
    RmppSender sender(message_of(1), {.wait = wanted}, Time{});
    BOOST_TEST((sender.due() == Time{} + 2000ms));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rmpp_receiver)

BOOST_DATA_TEST_CASE(what_is_sent_arrives, boost::unit_test::data::make({0, 1, 200, 201, 336, 4480, 60000}),
                     data) {
  RmppReceiver receiver(kOffset, 100000, {});
  RmppSender sender(message_of(data), {}, {});
  while (sender.state() == RmppSender::State::under_way) {
    const auto mad = sender.next({});
    BOOST_REQUIRE(mad.has_value());
    const RmppReply reply = take(receiver, *mad);
    if (reply.type == RmppType::acknowledgement) sender.acknowledge(reply.segment, reply.window, {});
  }
  BOOST_TEST((receiver.state() == RmppReceiver::State::complete));
  BOOST_TEST((data_of(receiver.message()) == data_of(message_of(data))));
}

BOOST_AUTO_TEST_CASE(acknowledgements_say_what_came_in_order_and_widen_the_window) {
  const auto sent = segments_of(200 * kRoom);
  RmppReceiver receiver(kOffset, 100000, {});
  BOOST_TEST(
      (take(receiver, sent[0]) == RmppReply{.type = RmppType::acknowledgement, .segment = 1, .window = 65}));
  for (std::size_t i = 1; i < 64; ++i) BOOST_TEST((take(receiver, sent[i]).type == RmppType::none));
  BOOST_TEST((take(receiver, sent[64]) ==
              RmppReply{.type = RmppType::acknowledgement, .segment = 65, .window = 129}));
  BOOST_TEST((take(receiver, sent[130]).type == RmppType::none));  // beyond the window: dropped
  for (std::size_t i = 65; i < 128; ++i) take(receiver, sent[i]);
  BOOST_TEST((take(receiver, sent[128]) ==
              RmppReply{.type = RmppType::acknowledgement, .segment = 129, .window = 193}));
}

BOOST_AUTO_TEST_CASE(a_lost_segment_comes_later_and_none_twice) {
  const auto sent = segments_of(5 * kRoom);
  RmppReceiver receiver(kOffset, 100000, {});
  for (const std::size_t i : {0, 1, 3, 3, 4}) take(receiver, sent[i]);
  BOOST_TEST((receiver.state() == RmppReceiver::State::under_way));
  BOOST_TEST((take(receiver, sent[1]).type == RmppType::none));
  BOOST_TEST(
      (take(receiver, sent[2]) == RmppReply{.type = RmppType::acknowledgement, .segment = 5, .window = 65}));
  BOOST_TEST((data_of(receiver.message()) == data_of(message_of(5 * kRoom))));
}

BOOST_AUTO_TEST_CASE(what_was_acknowledged_is_acknowledged_again) {
  const auto sent = segments_of(3 * kRoom);
  RmppReceiver receiver(kOffset, 100000, {});
  const RmppReply first = take(receiver, sent[0]);
  BOOST_TEST((take(receiver, sent[0]) == first));
  take(receiver, sent[1]);
  const RmppReply last = take(receiver, sent[2], Time{} + 1s);
  BOOST_TEST((receiver.due() == Time{} + 1s + RmppReceiver::kMemory));
  receiver.message().clear();
  for (const Mad& mad : sent) BOOST_TEST((take(receiver, mad) == last));
  BOOST_TEST(receiver.bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_too_long_is_stopped) {
  const auto sent = segments_of(5 * kRoom);
  RmppReceiver receiver(kOffset, kOffset + 3 * kRoom, {});
  for (std::size_t i = 0; i < 3; ++i) take(receiver, sent[i]);
  BOOST_TEST((take(receiver, sent[3]) ==
              RmppReply{.type = RmppType::stop, .status = RmppStatus::resources_exhausted}));
  BOOST_TEST((receiver.state() == RmppReceiver::State::over));
  BOOST_TEST(receiver.bytes() == 0u);
}

// In order and before their turn.
BOOST_DATA_TEST_CASE(a_segment_without_room_for_it_stops_the_message, boost::unit_test::data::make({1, 2}),
                     next) {
  const auto sent = segments_of(5 * kRoom);
  RmppReceiver receiver(kOffset, 100000, {});
  BOOST_TEST((receiver.take(rmpp_of(sent[0]), sent[0], true, {}).type == RmppType::acknowledgement));
  const Mad& mad = sent[static_cast<std::size_t>(next)];
  BOOST_TEST((receiver.take(rmpp_of(mad), mad, false, {}) ==
              RmppReply{.type = RmppType::stop, .status = RmppStatus::resources_exhausted}));
  BOOST_TEST(receiver.bytes() == 0u);
}

BOOST_DATA_TEST_CASE(a_last_segment_has_its_headers_and_no_more_than_fits,
                     boost::unit_test::data::make({0u, 19u, 221u, 0xFFFFFFFFu}), length) {
  Mad mad = segments_of(1)[0];
  RmppHeader header = rmpp_of(mad);
  header.length_or_window = length;
  encode(header, mad);
  RmppReceiver receiver(kOffset, 100000, {});
  BOOST_TEST((take(receiver, mad) == rmpp_abort(RmppStatus::inconsistent_last)));
}

BOOST_AUTO_TEST_CASE(segments_that_fit_no_message) {
  RmppHeader header{.type = RmppType::data, .first = true, .active = true, .segment = 1};
  BOOST_TEST((check_segment(header) == RmppStatus::normal));
  header.segment = 2;
  BOOST_TEST((check_segment(header) == RmppStatus::inconsistent_first));
  header.first = false;
  BOOST_TEST((check_segment(header) == RmppStatus::normal));
  header.segment = 1;
  BOOST_TEST((check_segment(header) == RmppStatus::inconsistent_first));
  header = {
      .type = RmppType::data, .first = true, .active = true, .status = RmppStatus::bad_type, .segment = 1};
  BOOST_TEST((check_segment(header) == RmppStatus::illegal_status));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
