// Scripts on a link of InfiniBand: the line that says it, what only such a link has, and on which hosts it
// runs.
#include <boost/test/unit_test.hpp>
#include <string>

#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"
#include "script/run/runner.hpp"
#include "script/virtual_host/virtual_host.hpp"

namespace urnic::script {
namespace {

constexpr const char* kOnInfiniband = "link infiniband\nmr m length=64\nqp a sl=3\n";

Outcome run_on(wire::LinkLayer link_layer, const std::string& text) {
  const Script script = parse(text, is_packet_field);
  VirtualHost host(link_layer);
  return Runner(script, host, {}).run();
}

Outcome run_there(const std::string& text) {
  return run_on(wire::LinkLayer::infiniband, kOnInfiniband + text);
}

std::string problem_of(const Outcome& outcome) { return outcome.failure ? outcome.failure->problem : ""; }

std::string error_of(const std::string& text) {
  try {
    parse(text, is_packet_field);
    return "it was taken";
  } catch (const ScriptError& error) {
    return std::to_string(error.at().line) + ":" + std::to_string(error.at().column) + ": " + error.what();
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(infiniband_scripts)

BOOST_AUTO_TEST_CASE(the_first_statement_says_the_link) {
  const auto link_of = [](const char* text) { return parse(text, is_packet_field).link_layer; };
  BOOST_TEST((link_of("# A heading.\n\nlink infiniband\nqp a\n") == wire::LinkLayer::infiniband));
  BOOST_TEST((link_of("link ethernet\nqp a\n") == wire::LinkLayer::ethernet));
  BOOST_TEST((link_of("qp a\n") == wire::LinkLayer::ethernet));
}

BOOST_AUTO_TEST_CASE(errors_say_where) {
  const char* const too_late = "link is the first statement of a script";
  BOOST_TEST(error_of("qp a\nlink infiniband\n") == std::string("2:1: ") + too_late);
  BOOST_TEST(error_of("link infiniband\nlink infiniband\n") == std::string("2:1: ") + too_late);
  BOOST_TEST(error_of("repeat 2\nlink infiniband\nend\n") == std::string("2:1: ") + too_late);
  BOOST_TEST(error_of("link token_ring\n") == "1:6: a link is one of ethernet, infiniband, not token_ring");
  BOOST_TEST(error_of("link\n") == "1:5: a link is expected here, not the end of the line");
  for (const char* const line : {"qp a grh=1\n", "qp a   sl=1\n", "ah a sl=1\n"})
    BOOST_TEST(
        error_of(line).find("is of a link of InfiniBand: the script's first line is link infiniband") !=
            std::string::npos,
        line);
}

BOOST_AUTO_TEST_CASE(packets_have_a_local_route) {
  const Outcome outcome = run_there(
      "send a write_only dlid=1 slid=2 payload=8\nexpect a ack dlid=2 slid=1 sl=3 psn=100\n"
      "memory m[0, 8] = pattern(8)\n");
  BOOST_TEST(problem_of(outcome) == "");
  BOOST_TEST(outcome.packets_sent == 1u);
  BOOST_TEST(outcome.packets_seen == 1u);
}

BOOST_AUTO_TEST_CASE(both_ends_addresses_are_attributes) {
  const Outcome outcome = run_there(
      "qp b grh=1\nsend b write_only dlid=b.lid slid=b.peer_lid sgid=b.peer_gid payload=8\n"
      "expect b ack dlid=b.peer_lid slid=b.lid dgid=b.peer_gid sgid=b.gid sgid!=b.peer_gid\n");
  BOOST_TEST(problem_of(outcome) == "");
  const Outcome wrong = run_there("qp b grh=1\nsend b write_only payload=8\nexpect b ack dgid=b.gid\n");
  BOOST_TEST(problem_of(wrong) == "grh.dgid: expected fe80::200:ff:fe00:1, seen fe80::200:ff:fe00:99");
  BOOST_TEST(problem_of(run_there("wait a.gid\n")) == "a number is expected here");
  BOOST_TEST(error_of("qp a\nsend a write_only psn=a.lid\n").find("there is no value a.lid") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_mismatch_names_fields_of_the_route) {
  const Outcome outcome = run_there("send a write_only payload=8\nexpect a ack slid=9\n");
  BOOST_TEST(problem_of(outcome) == "lrh.slid: expected 9, seen 1");
  BOOST_TEST(outcome.ladder.find("RC RDMA Write Only 100") != std::string::npos, outcome.ladder);
  const Outcome without_grh = run_there("send a write_only payload=8\nexpect a ack paylen=20\n");
  BOOST_TEST(problem_of(without_grh).find("paylen: expected a packet with this field") == 0u,
             problem_of(without_grh));
}

BOOST_AUTO_TEST_CASE(fields_of_the_other_link_are_not_there) {
  const Outcome outcome = run_there("send a write_only ip.ttl=3 payload=8\n");
  BOOST_TEST(problem_of(outcome) == "the packet has no field ip.ttl");
  const Outcome on_ethernet =
      run_on(wire::LinkLayer::ethernet, "mr m length=64\nqp a\nsend a write_only dlid=3 payload=8\n");
  BOOST_TEST(problem_of(on_ethernet) == "the packet has no field dlid");
}

BOOST_AUTO_TEST_CASE(a_wrong_variant_crc_ends_at_the_port) {
  const std::string text = "send a write_only vcrc=0x1234 payload=4\n";
  BOOST_TEST(problem_of(run_there(text + "quiet a 1ms\nmemory m[0, 4] = zeros(4)\n")) == "");
  const Outcome right = run_there("send a write_only payload=4\nquiet a 1ms\n");
  BOOST_TEST(problem_of(right).find("a packet came") == 0u, problem_of(right));
}

BOOST_AUTO_TEST_CASE(a_service_level_has_four_bits) {
  for (const char* const text : {"qp b sl=16\n", "ah b sl=16\n"})
    BOOST_TEST(problem_of(run_there(text)).find("a service level is 0 to 15") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_script_of_another_link_is_left_out) {
  const Outcome there = run_on(wire::LinkLayer::ethernet, kOnInfiniband);
  BOOST_TEST(there.left_out == "its link is infiniband, and that of this run is ethernet");
  const Outcome here = run_on(wire::LinkLayer::infiniband, "qp a\n");
  BOOST_TEST(here.left_out == "its link is ethernet, and that of this run is infiniband");
}

BOOST_AUTO_TEST_CASE(a_datagram_s_completion_has_its_route) {
  const Outcome outcome = run_there(
      "qp d service=ud sl=4 grh=1\npost_recv d wr_id=1 sge=m[0, 64]\nsend d send_only payload=8\n"
      "recv_completion d wr_id=1 slid=2 sl=4 with_grh=1 bytes=48\n");
  BOOST_TEST(problem_of(outcome) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
