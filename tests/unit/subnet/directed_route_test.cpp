// Directed routes, hop by hop.
#include "device_model/subnet/directed_route.hpp"

#include <boost/test/unit_test.hpp>

#include "small_fabric.hpp"

namespace urnic::subnet::test {
namespace {

Smp node_info() { return question(Method::get, SubnetAttribute::node_info); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(directed_route, SmallFabric)

BOOST_AUTO_TEST_CASE(no_hop_is_the_own_node) {
  const auto info = get<NodeInfo>(SubnetAttribute::node_info, {});
  BOOST_TEST(info.node_guid.value == 0xA1u);
  BOOST_TEST(info.local_port == 1);
}

BOOST_AUTO_TEST_CASE(each_hop_reaches_the_next_node) {
  BOOST_TEST(get<NodeInfo>(SubnetAttribute::node_info, {1}).node_guid.value == 0xB1u);
  const auto far = get<NodeInfo>(SubnetAttribute::node_info, {1, 2});
  BOOST_TEST(far.node_guid.value == 0xB2u);
  BOOST_TEST(far.local_port == 3);
  BOOST_TEST(get<NodeInfo>(SubnetAttribute::node_info, {1, 2, 1}).node_guid.value == 0xA2u);
}

BOOST_AUTO_TEST_CASE(the_answer_has_the_way_back) {
  const Smp answer = ask(along(node_info(), {1, 2, 1})).value();
  BOOST_TEST(answer.is_returning);
  BOOST_TEST(answer.hop_pointer == 0);
  BOOST_TEST((answer.return_path[1] == std::byte{1}));
  BOOST_TEST((answer.return_path[2] == std::byte{3}));
  BOOST_TEST((answer.return_path[3] == std::byte{1}));
  BOOST_TEST((answer.header.method == Method::get_response));
}

BOOST_AUTO_TEST_CASE(a_way_may_go_back_and_forth) {
  BOOST_TEST(get<NodeInfo>(SubnetAttribute::node_info, {1, 1}).node_guid.value == 0xA1u);
  BOOST_TEST(get<NodeInfo>(SubnetAttribute::node_info, {1, 2, 3, 2, 3}).node_guid.value == 0xB1u);
}

BOOST_AUTO_TEST_CASE(wrong_ways_have_no_answer) {
  BOOST_TEST(!ask(along(node_info(), {1, 3})));        // no cable
  BOOST_TEST(!ask(along(node_info(), {1, 9})));        // no such port
  BOOST_TEST(!ask(along(node_info(), {1, 0, 2})));     // not through a switch's own port
  BOOST_TEST(!ask(along(node_info(), {1, 1, 1, 2})));  // an adapter forwards nothing
}

BOOST_AUTO_TEST_CASE(what_cannot_leave_is_refused) {
  BOOST_TEST(!send(kOne, along(node_info(), {2})));  // not the own port
  Smp smp = along(node_info(), {1});
  smp.hop_count = 64;
  BOOST_TEST(!send(kOne, smp));
  smp = along(node_info(), {1});
  smp.directed_source = {5};
  BOOST_TEST(!send(kOne, smp));
  smp = along(node_info(), {1, 2});
  smp.hop_pointer = 2;
  BOOST_TEST(!send(kOne, smp));
  BOOST_TEST(arrived.empty());
}

BOOST_AUTO_TEST_CASE(the_longest_way) {
  Smp smp = node_info();
  smp.header.management_class = ManagementClass::subnet_directed_route;
  smp.hop_count = 63;
  smp.initial_path[1] = std::byte{1};
  for (std::size_t hop = 2; hop < 64; ++hop) smp.initial_path[hop] = std::byte(hop % 2 == 0 ? 2 : 3);
  const Smp answer = ask(smp).value();
  BOOST_TEST(decode_data<NodeInfo>(answer.data).node_guid.value == 0xB1u);
}

// What lies in the pointer and the counts of a datagram that a program has written is anything.
BOOST_AUTO_TEST_CASE(no_pointer_leads_out_of_the_path) {
  for (unsigned pointer = 0; pointer < 256; ++pointer) {
    for (unsigned count = 0; count < 256; ++count) {
      for (const bool returning : {false, true}) {
        Smp smp = along(node_info(), {1, 2});
        smp.hop_pointer = static_cast<std::uint8_t>(pointer);
        smp.hop_count = static_cast<std::uint8_t>(count);
        smp.is_returning = returning;
        for (NodeIndex node : {kOne, kNear}) {
          Smp passing = smp;
          const Hop hop = take_directed(network.node(node), 1, passing);
          if (count > kMostHops) BOOST_TEST((hop == Hop{}));
        }
        send(kOne, smp);
      }
    }
  }
}

// A program answers what its port's agent does not: SMInfo.
BOOST_AUTO_TEST_CASE(a_program_answers_by_the_way_back) {
  send(kOne, along(question(Method::get, SubnetAttribute::sm_info), {1, 2, 1}));
  BOOST_REQUIRE(arrived.size() == 1u);
  BOOST_TEST(arrived[0].adapter == kOther);
  Smp smp;
  BOOST_TEST((decode(arrived[0].datagram.mad, smp) == MadError::none));
  smp.is_returning = true;
  smp.header.method = Method::get_response;
  arrived.clear();
  BOOST_TEST(send(kOther, smp));
  BOOST_REQUIRE(arrived.size() == 1u);
  BOOST_TEST(arrived[0].adapter == kOne);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
