#include "script/language/parser.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "script/packets/packet_fields.hpp"

namespace urnic::script {
namespace {

Script parsed(std::string_view text) { return parse(text, is_packet_field); }

// What stands in front of each row below, on four lines.
constexpr const char* kObjects = "mr m length=64\nqp a\nsrq s\nmw w\n";

struct Row {
  const char* text;
  std::uint32_t line;
  std::uint32_t column;
  const char* problem;  // a part of it
};

void check_errors(std::span<const Row> rows, std::string_view in_front) {
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      try {
        parsed(std::string(in_front) + row.text);
        BOOST_ERROR("it was taken");
      } catch (const ScriptError& error) {
        BOOST_TEST(error.at().line == row.line);
        BOOST_TEST(error.at().column == row.column);
        BOOST_TEST(std::string(error.what()).find(row.problem) != std::string::npos, error.what());
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parser)

BOOST_AUTO_TEST_CASE(a_script_becomes_statements) {
  const Script script = parsed(
      "# 9.7: a rule\n# in two lines\n\nmr m length=64\nqp a rq_psn=100\n"
      "+1ms..2ms expect a ack psn=?p syndrome=nak(psn_sequence) msn!=3 code=1..7\n"
      "repeat 3 as i\n  send a write_only psn=p+i payload=m[0, 8]\nend\nfill m[8, 4] = hex(\"00 01 02 "
      "03\")\n");
  BOOST_TEST(script.heading == "9.7: a rule\nin two lines");
  BOOST_REQUIRE(script.statements.size() == 5u);
  const Statement& expect = script.statements[2];
  BOOST_CHECK(expect.keyword == Keyword::expect);
  BOOST_REQUIRE(expect.when.has_value());
  BOOST_TEST(expect.when->earliest.value == 1'000'000u);
  BOOST_TEST(expect.when->latest->value == 2'000'000u);
  BOOST_TEST(expect.object == "a");
  BOOST_TEST(expect.word == "ack");
  BOOST_REQUIRE(expect.arguments.size() == 4u);
  BOOST_CHECK(expect.arguments[0].comparison == Comparison::bind);
  BOOST_TEST(expect.arguments[0].variable == "p");
  BOOST_CHECK(expect.arguments[2].comparison == Comparison::different);
  BOOST_CHECK(expect.arguments[3].comparison == Comparison::within);
  const Statement& repeat = script.statements[3];
  BOOST_TEST(repeat.object == "i");
  BOOST_REQUIRE(repeat.body.size() == 1u);
  BOOST_TEST(repeat.body[0].at.line == 8u);
  BOOST_CHECK(script.statements[4].amount->kind == Expression::Kind::place);
}

BOOST_AUTO_TEST_CASE(operators_bind_as_in_c) {
  const Script script = parsed("let x = 1 | 2 + 3 * 4 << 1 & 7 - 2 - 1\n");
  // | is the weakest: 1 | ((2 + 3 * 4) << 1 & ((7 - 2) - 1))
  const Expression& all = *script.statements[0].amount;
  BOOST_TEST(all.name == "|");
  const Expression& both = all.operands[1];
  BOOST_TEST(both.name == "&");
  BOOST_TEST(both.operands[0].name == "<<");
  BOOST_TEST(both.operands[1].name == "-");
  BOOST_TEST(both.operands[1].operands[0].name == "-");
}

BOOST_AUTO_TEST_CASE(errors_of_words_name_line_and_column) {
  constexpr Row kRows[] = {
      {"sned a", 5, 1, "there is no statement sned: there are"},
      {"+1 expect a ack", 5, 2, "a span of time is expected here"},
      {"+1ms.. expect a ack", 5, 8, "there is no value expect"},
      {"send b write_only", 5, 6, "there is no queue pair b: there are a"},
      {"send a write_onyl", 5, 8, "there is no packet write_onyl"},
      {"expect a ack psm=1", 5, 14, "expect has no argument psm"},
      {"expect a ack psn 1", 5, 18, "= is expected here, not 1"},
      {"expect a ack psn=", 5, 18, "a value is expected here"},
      {"send a write_only psn=1 psn=2", 5, 25, "psn is given twice"},
      {"send a write_only psn!=1", 5, 22, "only what is expected is compared"},
      {"post_send a sent", 5, 13, "a work request is one of"},
      {"post_send a", 5, 12, "a work request is expected here, not the end of the script"},
      {"post_send a send wr=1", 5, 18, "post_send has no argument wr: it has wr_id, sge"},
      {"post_send a send ah=a", 5, 21, "there is no address handle a"},
      {"post_recv m", 5, 11, "there is no queue pair m"},
      {"event a explosion", 5, 9, "an event is one of"},
      {"modify a", 5, 1, "modify needs state="},
      {"modify a state=up", 5, 16, "there is no value up: it is a number, or one of reset, init"},
      {"destroy x", 5, 9, "there is no object x"},
      {"destroy a\nsend a write_only", 6, 6, "there is no queue pair a: qp makes a queue pair"},
      {"quiet a", 5, 8, "a value is expected here"},
      {"quiet a 5", 5, 9, "a span of time is expected here"},
      {"wait 1ms 2ms", 5, 10, "the end of the line is expected here, not 2ms"},
  };
  check_errors(kRows, kObjects);
}

BOOST_AUTO_TEST_CASE(errors_of_names_name_line_and_column) {
  constexpr Row kRows[] = {
      {"mr m length=1", 5, 4, "m is the name of something else"},
      {"mr send length=1", 5, 4, "send is the name of something else"},
      {"mr x", 5, 1, "mr needs length="},
      {"qp x.y", 5, 4, "a name has no dots"},
      {"let m = 1", 5, 5, "m is the name of something else"},
      {"let pattern = 1", 5, 5, "pattern is the name of something else"},
      {"let x 1", 5, 7, "= is expected here"},
      {"let x = y", 5, 9, "there is no value y: let defines one"},
      {"let x = x", 5, 9, "there is no value x"},
      {"let x = a.colour", 5, 9, "there is no value a.colour"},
      {"expect a ack psn=?m", 5, 19, "m is the name of something else"},
      {"repeat 3 as m\nend", 5, 13, "m is the name of something else"},
      {"repeat 3\nwait 1ms", 5, 1, "this repeat has no end"},
      {"end", 5, 1, "there is no statement end"},
  };
  check_errors(kRows, kObjects);
}

BOOST_AUTO_TEST_CASE(errors_of_values_name_line_and_column) {
  constexpr Row kRows[] = {
      {"let x = 18446744073709551616", 5, 9, "more than 64 bits"},
      {"let x = 0x10000000000000000", 5, 9, "more than 64 bits"},
      {"let x = 0x", 5, 9, "digits behind 0x"},
      {"let x = 12abc", 5, 9, "a number ends with a space"},
      {"let x = 1.5", 5, 9, "only spans of time have a fraction"},
      {"wait 0.0000000001s", 5, 6, "a whole number of nanoseconds"},
      {"wait 99999999999s", 5, 6, "too long"},
      {"let x = (1", 5, 11, ") is expected here"},
      {"let x = 1 +", 5, 12, "a value is expected here"},
      {"let x = pattern(4)", 5, 9, "a number is expected here, not bytes"},
      {"let x = 1 + pattern(4)", 5, 13, "bytes are no operand of +"},
      {"let x = ack(1, 2)", 5, 9, "ack takes 1 operands"},
      {"let x = nak(lost)", 5, 13, "there is no value lost: it is a number, or one of psn_sequence"},
      {"let x = max(1)", 5, 9, "there is no function max: there are"},
      {"fill m[0, 2] = hex(1)", 5, 20, "text in double quotes is expected here"},
      {"fill m[0] = 1", 5, 9, "a comma and the length are expected here"},
      {"fill a[0, 1] = 1", 5, 6, "there is no memory region a"},
      {"fill m[0, 1 = 1", 5, 13, "] is expected here"},
      {"fill m[0, 2] = text(\"ab", 5, 21, "no closing quote"},
      {"let x = 1 ; 2", 5, 11, "';' has no meaning in a script"},
      {"let x = \x01", 5, 9, "the byte 1 has no meaning in a script"},
      {"post_send a send sge=m", 5, 23, "the place in the region is expected here"},
  };
  check_errors(kRows, kObjects);
}

// Neither a long chain nor deep brackets may end the process.
BOOST_AUTO_TEST_CASE(depth_has_a_limit) {
  const std::string deep = "let x = " + std::string(100'000, '(') + "1";
  BOOST_CHECK_THROW(parsed(deep), ScriptError);
  BOOST_CHECK_THROW(parsed("let x = " + std::string(100'000, '~') + "1"), ScriptError);
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "repeat 1\n";
  BOOST_CHECK_THROW(parsed(nested), ScriptError);
}

BOOST_AUTO_TEST_CASE(an_error_is_described_as_compilers_do_it) {
  BOOST_TEST(describe(ScriptError({3, 7}, "a problem"), "x.packets") == "x.packets:3:7: a problem");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
