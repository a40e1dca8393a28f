#include "device_model/link/membership/group_membership.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "wire/byte_order.hpp"
#include "wire/ethernet.hpp"
#include "wire/internet_checksum.hpp"

namespace urnic::link::test {
namespace group_membership {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Bytes = std::vector<std::byte>;

constexpr wire::MacAddress kOne{{0x02, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kTwo{{0x02, 0, 0, 0, 0, 2}};
constexpr wire::Gid kLinkLocal{{0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr std::size_t kIgmpAt = 14 + 24;     // with Router Alert
constexpr std::size_t kMldAt = 14 + 40 + 8;  // with the hop-by-hop header

wire::Gid ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d}};
}
wire::Gid group4(std::uint8_t last) { return ipv4(239, 1, 2, last); }
wire::Gid group6(std::uint8_t last) { return {{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, last}}; }

// A router's question, written by hand: `message` behind an IPv4 header.
Bytes igmp_query(std::uint8_t code, const wire::Gid& group, std::size_t message_bytes) {
  Bytes message(message_bytes);
  message[0] = std::byte{0x11};
  message[1] = std::byte{code};
  std::memcpy(message.data() + 4, group.bytes.data() + 12, 4);
  wire::InternetSum sum;
  sum.add(message);
  const std::uint16_t checksum = sum.checksum();
  std::memcpy(message.data() + 2, &checksum, 2);
  Bytes frame(14 + 20);
  wire::store_ethernet(frame.data(), wire::kBroadcastMac, kTwo, wire::ether_type::kIpv4);
  frame[14] = std::byte{0x45};
  wire::store_be16(frame.data() + 16, static_cast<std::uint16_t>(20 + message_bytes));
  frame[14 + 8] = std::byte{1};
  frame[14 + 9] = std::byte{2};
  frame.insert(frame.end(), message.begin(), message.end());
  return frame;
}

Bytes mld_query(std::uint16_t code, std::size_t message_bytes) {
  Bytes frame(kMldAt + message_bytes);
  wire::store_ethernet(frame.data(), wire::kBroadcastMac, kTwo, wire::ether_type::kIpv6);
  std::byte* const ip = frame.data() + 14;
  ip[0] = std::byte{0x60};
  wire::store_be16(ip + 4, static_cast<std::uint16_t>(8 + message_bytes));
  ip[7] = std::byte{1};
  std::memcpy(ip + 8, kLinkLocal.bytes.data(), 16);
  ip[24] = std::byte{0xFF};
  ip[25] = std::byte{2};
  ip[39] = std::byte{1};
  ip[40] = std::byte{58};
  std::byte* const message = frame.data() + kMldAt;
  message[0] = std::byte{130};
  wire::store_be16(message + 4, code);
  wire::InternetSum sum;
  sum.add({ip + 8, 32});
  sum.add_be16(static_cast<std::uint16_t>(message_bytes));
  sum.add_be16(58);
  sum.add({message, message_bytes});
  const std::uint16_t checksum = sum.checksum();
  std::memcpy(message + 2, &checksum, 2);
  return frame;
}

std::uint8_t at(const Bytes& bytes, std::size_t place) {
  return std::to_integer<std::uint8_t>(bytes.at(place));
}

struct Host {
  transport::Time now{seconds(100)};
  int wakes = 0;
  GroupMembership groups{[this] { ++wakes; }};

  void join(const std::vector<wire::Gid>& wanted) {
    std::vector<GroupMember> members;
    for (const wire::Gid& group : wanted)
      members.push_back({kOne, group, group.bytes[0] == 0xFF ? kLinkLocal : ipv4(10, 0, 0, 1)});
    groups.set_members(members);
  }
  // All that is sent within `span`.
  std::vector<Bytes> run_for(transport::Nanoseconds span) {
    const transport::Time end = now + span;
    std::vector<Bytes> sent;
    while (groups.next_due() && *groups.next_due() <= end) {
      now = std::max(now, *groups.next_due());
      for (Bytes& report : groups.run(now)) sent.push_back(std::move(report));
    }
    now = end;
    return sent;
  }
};

BOOST_FIXTURE_TEST_SUITE(group_membership, Host)

BOOST_AUTO_TEST_CASE(a_join_and_a_leave_are_reported_twice) {
  join({group4(1)});
  BOOST_TEST(wakes == 1);
  const auto joined = run_for(seconds(10));
  BOOST_REQUIRE_EQUAL(joined.size(), 2u);
  const Bytes& report = joined[0];
  BOOST_TEST((wire::load_mac(report.data()) == wire::MacAddress{{0x01, 0, 0x5E, 0, 0, 22}}));
  BOOST_TEST((wire::load_mac(report.data() + 6) == kOne));
  BOOST_TEST(at(report, 14) == 0x46);       // Router Alert
  BOOST_TEST(at(report, 14 + 8) == 1);      // TTL
  BOOST_TEST(at(report, kIgmpAt) == 0x22);  // an IGMPv3 report
  BOOST_TEST(at(report, kIgmpAt + 7) == 1);
  BOOST_TEST(at(report, kIgmpAt + 8) == 4);  // to exclude nothing
  BOOST_TEST(at(report, kIgmpAt + 12) == 239);
  wire::InternetSum sum;
  sum.add(std::span(report).subspan(kIgmpAt));
  BOOST_TEST(sum.checksum() == 0u);
  join({});
  const auto left = run_for(seconds(10));
  BOOST_REQUIRE_EQUAL(left.size(), 2u);
  BOOST_TEST(at(left[0], kIgmpAt + 8) == 3);  // to include nothing
  BOOST_TEST(!groups.next_due());
}

BOOST_AUTO_TEST_CASE(nothing_is_said_of_what_stays) {
  join({group4(1), group6(1)});
  run_for(seconds(10));
  join({group6(1), group4(1)});
  BOOST_TEST(run_for(seconds(10)).empty());
  BOOST_TEST(groups.members() == 2u);
}

BOOST_AUTO_TEST_CASE(everybody_is_in_the_group_of_all) {
  join({ipv4(224, 0, 0, 1), {{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}});
  BOOST_TEST(run_for(seconds(10)).empty());
}

BOOST_AUTO_TEST_CASE(a_general_query_is_answered_for_all_groups_in_time) {
  join({group4(1), group4(2), group6(1)});
  run_for(seconds(10));
  BOOST_TEST(groups.receive(igmp_query(100, {}, 12), now));
  BOOST_TEST((groups.next_due().value() <= now + seconds(10)));
  const auto answers = run_for(seconds(10));
  BOOST_REQUIRE_EQUAL(answers.size(), 1u);
  BOOST_TEST(at(answers[0], kIgmpAt + 7) == 2);  // records
  BOOST_TEST(at(answers[0], kIgmpAt + 8) == 2);  // is to exclude nothing
  BOOST_TEST(run_for(seconds(100)).empty());
}

BOOST_AUTO_TEST_CASE(a_query_for_a_group_is_answered_by_its_members) {
  join({group4(1), group4(2)});
  run_for(seconds(10));
  groups.receive(igmp_query(10, group4(2), 12), now);
  const auto answers = run_for(seconds(1));
  BOOST_REQUIRE_EQUAL(answers.size(), 1u);
  BOOST_TEST(at(answers[0], kIgmpAt + 15) == 2);
  groups.receive(igmp_query(10, group4(3), 12), now);
  BOOST_TEST(run_for(seconds(10)).empty());
}

BOOST_AUTO_TEST_CASE(response_times_have_an_exponent) {
  const auto query = wire::parse_membership_query(igmp_query(0xFF, {}, 12));
  BOOST_TEST((query.value().response_time == milliseconds(100) * (0x1F << 10)));
  BOOST_TEST(
      (wire::parse_membership_query(mld_query(0x7FFF, 28)).value().response_time == milliseconds(0x7FFF)));
  BOOST_TEST(
      (wire::parse_membership_query(mld_query(0x8000, 28)).value().response_time == milliseconds(0x8000)));
}

BOOST_AUTO_TEST_CASE(an_older_router_gets_older_reports) {
  groups.receive(igmp_query(100, {}, 8), now);
  join({group4(1)});
  const auto joined = run_for(seconds(10));
  BOOST_REQUIRE_EQUAL(joined.size(), 2u);
  BOOST_TEST(at(joined[0], kIgmpAt) == 0x16);
  BOOST_TEST((wire::load_mac(joined[0].data()) == wire::MacAddress{{0x01, 0, 0x5E, 1, 2, 1}}));
  join({});
  const auto left = run_for(seconds(10));
  BOOST_TEST(at(left.at(0), kIgmpAt) == 0x17);
  now += seconds(260);
  join({group4(1)});
  BOOST_TEST(at(run_for(seconds(10)).at(0), kIgmpAt) == 0x22);
}

BOOST_AUTO_TEST_CASE(ipv6_has_reports_of_its_own) {
  join({group6(7)});
  const auto joined = run_for(seconds(10));
  BOOST_REQUIRE_EQUAL(joined.size(), 2u);
  const Bytes& report = joined[0];
  BOOST_TEST((wire::load_mac(report.data()) == wire::MacAddress{{0x33, 0x33, 0, 0, 0, 0x16}}));
  BOOST_TEST(at(report, kMldAt) == 143);
  BOOST_TEST(at(report, kMldAt + 8) == 4);
  BOOST_TEST(at(report, kMldAt + 27) == 7);
  BOOST_TEST(groups.receive(mld_query(1000, 28), now));
  BOOST_TEST(run_for(seconds(1)).size() == 1u);
  groups.receive(mld_query(1000, 24), now);
  const auto old = run_for(seconds(1));
  BOOST_REQUIRE_EQUAL(old.size(), 1u);
  BOOST_TEST(at(old[0], kMldAt) == 131);
}

BOOST_AUTO_TEST_CASE(each_device_is_a_host) {
  groups.set_members({{kOne, group4(1), ipv4(10, 0, 0, 1)}, {kTwo, group4(1), ipv4(10, 0, 0, 2)}});
  run_for(seconds(10));
  groups.receive(igmp_query(100, {}, 12), now);
  BOOST_TEST(run_for(seconds(10)).size() == 2u);
}

BOOST_AUTO_TEST_CASE(many_groups_take_several_reports) {
  std::vector<wire::Gid> many;
  for (std::uint8_t i = 0; i < 130; ++i) many.push_back(group4(i));
  join(many);
  const auto reports = groups.run(now);
  BOOST_REQUIRE_EQUAL(reports.size(), 3u);
  BOOST_TEST(reports[0].size() <= 1514u);
}

BOOST_AUTO_TEST_CASE(damaged_queries_say_nothing) {
  for (const Bytes& query : {igmp_query(100, {}, 12), igmp_query(100, {}, 8), mld_query(1000, 28)}) {
    for (std::size_t length = 0; length < query.size(); ++length)
      BOOST_TEST(!groups.receive(std::span(query).first(length), now));
    Bytes damaged = query;
    damaged.back() ^= std::byte{1};
    BOOST_TEST(!groups.receive(damaged, now));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace group_membership
}  // namespace urnic::link::test
