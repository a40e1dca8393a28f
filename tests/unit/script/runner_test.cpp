// Scripts on the virtual host: what passes, and what each kind of mismatch says.
#include "script/run/runner.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"
#include "script/report/report.hpp"
#include "script/virtual_host/virtual_host.hpp"

namespace urnic::script {
namespace runner {

constexpr const char* kObjects = "mr m length=64\nqp a rq_psn=100 sq_psn=500 timeout=10\n";

Outcome run(const std::string& text, const RunSettings& settings = {}) {
  const Script script = parse(kObjects + text, is_packet_field);
  VirtualHost host(script.link_layer);
  return Runner(script, host, settings).run();
}

}  // namespace runner

BOOST_AUTO_TEST_SUITE(runner)

BOOST_AUTO_TEST_CASE(a_script_that_is_right_passes) {
  const Outcome outcome =
      run("send a write_only payload=8\nexpect a ack psn=100 msn=?messages\nlet next = messages + 100\n"
          "send a write_only psn=next payload=8\nexpect a ack psn=next\nmemory m[0, 8] = pattern(8)\n");
  BOOST_TEST(!outcome.failure.has_value());
  BOOST_TEST(outcome.packets_sent == 2u);
  BOOST_TEST(outcome.packets_seen == 2u);
  BOOST_TEST(outcome.statements == 8u);
}

BOOST_AUTO_TEST_CASE(a_mismatch_says_line_column_field_expected_and_seen) {
  struct Row {
    const char* text;
    Position at;
    const char* field;
    const char* expected;
    const char* seen;
  };
  const Row rows[] = {
      {"send a write_only payload=4\nexpect a ack psn=101\n", {4, 14}, "bth.psn", "101", "100"},
      {"send a write_only payload=4\nexpect a ack psn=101..103\n", {4, 14}, "bth.psn", "101 to 103", "100"},
      {"send a write_only payload=4\nexpect a ack psn!=100\n", {4, 14}, "bth.psn", "not 100", "100"},
      {"send a write_only payload=4\nexpect a ack psn<100\n", {4, 14}, "bth.psn", "less than 100", "100"},
      {"send a write_only psn=102\nexpect a ack kind=ack\n", {4, 14}, "aeth.kind", "0 (ACK)", "3 (NAK)"},
      {"send a write_only psn=102\nexpect a ack syndrome=nak(invalid_request)\n",
       {4, 14},
       "aeth.syndrome",
       "0x61 (NAK, invalid request)",
       "0x60 (NAK, PSN sequence error)"},
      {"send a read_request dmalen=4\nexpect a read_response_only payload=hex(\"00 00 01 00\")\n",
       {4, 29},
       "payload",
       "4 bytes, from byte 2 on: 01 00",
       "4 bytes, from byte 2 on: 00 00"},
      {"send a read_request dmalen=4\nexpect a read_response_only payload_length=5\n",
       {4, 29},
       "payload_length",
       "5",
       "4"},
      {"fill m[0, 4] = 4\nmemory m[0, 4] = hex(\"00 07 0e 16\")\n", {4, 1}, "m[3, 1]", "0x16", "0x15"},
      {"post_send a send wr_id=1\nexpect a send_only\nsend a ack\nsend_completion a wr_id=2\n",
       {6, 19},
       "wr_id",
       "2",
       "1"},
      {"post_send a read wr_id=1 sge=m[0, 4] remote=0 rkey=0\nexpect a read_request\n"
       "send a ack syndrome=nak(remote_access)\nsend_completion a status=success\n",
       {6, 19},
       "status",
       "0 (success)",
       "10 (remote_access_error)"},
      {"send a write_only rkey=1 payload=4\nexpect a ack\nevent a qp_fatal\n",
       {5, 9},
       "event",
       "qp_fatal",
       "qp_access_error"},
      {"post_send a write wr_id=1 remote=0 rkey=0\nexpect a write_only\n+1ms expect a write_only\n",
       {5, 1},
       "time",
       "1 ms",
       "4.194 ms"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const Outcome outcome = run(row.text);
      BOOST_REQUIRE(outcome.failure.has_value());
      BOOST_TEST(outcome.failure->at.line == row.at.line);
      BOOST_TEST(outcome.failure->at.column == row.at.column);
      BOOST_TEST(outcome.failure->field == row.field);
      BOOST_TEST(outcome.failure->expected == row.expected);
      BOOST_TEST(outcome.failure->seen == row.seen);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_does_not_come_or_comes_too_often_fails) {
  struct Row {
    const char* text;
    std::uint32_t line;
    const char* problem;
  };
  const Row rows[] = {
      {"expect a ack\n", 3, "no packet came within 2 s"},
      {"send_completion a\n", 3, "no completion came within 2 s"},
      {"event a qp_fatal\n", 3, "no event came within 2 s"},
      {"send a write_only\nquiet a 1us\n", 4, "a packet came"},
      {"send a write_only\n", 3,
       "the script is over, and a packet came that no statement expects: RC Acknowledge"},
      {"modify a state=error\npost_recv a wr_id=3\nno_completion a\n", 5, "wr_id 3 and status 5 (flushed)"},
      {"post_recv a wr_id=1\narm a\nsend a send_only\nexpect a ack\nnot_notified a\n", 7,
       "a completion event came"},
      {"destroy m\nfill m[0, 65] = 65\n", 4, "the region m has 64 bytes"},
      {"fill m[0, 4] = 5\n", 3, "the place has 4 bytes, and these are 5"},
      {"send a write_only ttl=300\n", 3, "send has no argument"},
      {"send a ack immdt=1\n", 3, "the packet has no field immdt"},
      {"send a write_only bth.pkey=0x10000\n", 3, "bth.pkey"},
      {"repeat 1 << 40\nwait 0\nend\n", 3, "100000 statements at most"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      Failure failure;
      try {
        const Outcome outcome = run(row.text);
        BOOST_REQUIRE(outcome.failure.has_value());
        failure = *outcome.failure;
      } catch (const ScriptError& error) {
        failure = {error.at(), error.what(), {}, {}, {}};
      }
      BOOST_TEST(failure.at.line == row.line);
      BOOST_TEST(failure.problem.find(row.problem) != std::string::npos, failure.problem);
    }
  }
}

// Any number may stand in a script. The virtual host refuses what a device would, and nothing of it comes as
// an exception or as another number.
BOOST_AUTO_TEST_CASE(what_no_program_can_make_is_refused) {
  struct Row {
    const char* text;
    const char* seen;
  };
  const Row rows[] = {
      {"mw w type=0\n", "EINVAL: a memory window's type is 1 or 2"},
      {"mw w type=3\n", "EINVAL: a memory window's type is 1 or 2"},
      {"mw w type=(1<<32)+1\n", "EINVAL: a memory window's type is 1 or 2"},
      {"mr n length=0\n", "EINVAL: a region has 1 byte to 16 MiB"},
      {"qp b service=7\n", "EINVAL: there is no such service"},
      {"qp b service=(1<<32)+2\n", "EINVAL: there is no such service"},
      {"qp b state=7\n", "EINVAL: there is no such state"},
      {"qp b state=259\n", "EINVAL: there is no such state"},
      {"qp b mtu=1000\n", "EINVAL: ibv_modify_qp"},
      {"modify a state=256\n", "EINVAL: there is no such state"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const Outcome outcome = run(row.text);
      BOOST_REQUIRE(outcome.failure.has_value());
      BOOST_TEST(outcome.failure->at.line == 3u);
      BOOST_TEST(outcome.failure->seen == row.seen);
    }
  }
}

// "What is not named is right": the device takes each of them, and PSNs follow each other.
BOOST_AUTO_TEST_CASE(packets_are_right_without_any_field) {
  const Outcome outcome = run(
      "post_recv a wr_id=1 sge=m[0, 64]\nsend a write_only\nsend a send_only\nsend a read_request dmalen=8\n"
      "send a fetch_add\nsend a compare_swap\nsend a atomic_write\n"
      "expect a read_response_only psn=102\nexpect a atomic_ack psn=103\n"
      "expect a atomic_ack psn=104\nexpect a read_response_only psn=105 msn=6\n");
  BOOST_TEST(!outcome.failure.has_value(), (outcome.failure ? outcome.failure->problem : ""));
}

// And so are responses: to the request that came last, with the rest of a READ.
BOOST_AUTO_TEST_CASE(responses_are_right_without_any_field) {
  const Outcome outcome =
      run("mr n length=4096\npost_send a read wr_id=1 sge=n[0, 2500] remote=0 rkey=0\nexpect a read_request\n"
          "send a read_response_first\nsend a read_response_middle\nsend a read_response_last\n"
          "send_completion a wr_id=1 status=success bytes=2500\n"
          "post_send a fetch_add wr_id=2 sge=n[0, 8] remote=0 rkey=0 add=1\nexpect a fetch_add psn=503\n"
          "send a atomic_ack\nsend_completion a wr_id=2 status=success\n");
  BOOST_TEST(!outcome.failure.has_value(), (outcome.failure ? outcome.failure->problem : ""));
}

BOOST_AUTO_TEST_CASE(what_is_ignored_is_as_if_it_had_not_come) {
  const Outcome outcome =
      run("ignore a ack kind=nak\nsend a write_only\nexpect a ack psn=100\nsend a write_only psn=105\nquiet "
          "a 1ms\n");
  BOOST_TEST(!outcome.failure.has_value(), (outcome.failure ? outcome.failure->problem : ""));
}

BOOST_AUTO_TEST_CASE(values_from_outside_take_the_place_of_the_script_s) {
  RunSettings settings;
  settings.values = {{"psn", 100}};
  const char* const text = "let psn = 7\nsend a write_only psn=psn\nexpect a ack kind=ack psn=100\n";
  BOOST_TEST(!run(text, settings).failure.has_value());
  BOOST_TEST(run(text).failure.has_value());
}

BOOST_AUTO_TEST_CASE(a_live_script_is_left_out) {
  const Outcome outcome = run("option runs=live\nexpect a ack\n");
  BOOST_TEST(!outcome.failure.has_value());
  BOOST_TEST(outcome.left_out == "it runs live only");
}

BOOST_AUTO_TEST_CASE(a_report_shows_the_line_and_the_ladder) {
  const char* const rest = "send a write_only psn=102\nexpect a ack psn=99\n";
  const std::string said = report("x.packets", std::string(kObjects).append(rest), run(rest));
  BOOST_TEST(said.find("x.packets:4:14: bth.psn: expected 99, seen 100\n"
                       "     4 | expect a ack psn=99\n"
                       "       |              ^\n"
                       "The packets so far:\n") == 0u,
             said);
  BOOST_TEST(said.find("1 RC RDMA Write Only 102") != std::string::npos, said);
  BOOST_TEST(said.find("2 RC Acknowledge 100") != std::string::npos, said);
}

// Two runs of a script see the same numbers, addresses and times.
BOOST_AUTO_TEST_CASE(each_run_is_the_same) {
  const char* const text =
      "post_send a write wr_id=1 sge=m[0, 4] remote=0 rkey=0\nexpect a write_only\nexpect a write_only "
      "psn=7\n";
  BOOST_TEST(run(text).ladder == run(text).ladder);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
