#include "script/values/scope.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"

namespace urnic::script {
namespace {

Expression expression(const std::string& text) {
  const Script script = parse("mr m length=64\nlet v = 5\nlet x = " + text + "\n", is_packet_field);
  return *script.statements[2].amount;
}

Expression bytes_expression(const std::string& text) {
  const Script script = parse("mr m length=64\nfill m[0, 64] = " + text + "\n", is_packet_field);
  return script.statements[1].arguments[0].values[0];
}

Scope scope() {
  Scope made;
  made.set("v", 5);
  made.set("m.length", 64);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scope_of_a_script)

BOOST_AUTO_TEST_CASE(numbers_are_64_bits_and_wrap) {
  struct Row {
    const char* text;
    std::uint64_t value;
  };
  const Row rows[] = {
      {"v + 1", 6},
      {"v - 6", ~std::uint64_t{0}},
      {"-1", ~std::uint64_t{0}},
      {"~0 >> 60", 15},
      {"2 + 3 * 4 - 1", 13},
      {"(2 + 3) * 4 % 7", 6},
      {"1 << 63", std::uint64_t{1} << 63},
      {"0xF0 & 0x3C | 1 ^ 3", 0x32},
      {"ack(31)", 0x1F},
      {"rnr(14)", 0x2E},
      {"nak(remote_access)", 0x62},
      {"3us", 3000},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST(scope().number(expression(row.text)) == row.value); }
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_computed_is_an_error_with_its_place) {
  struct Row {
    const char* text;
    std::uint32_t column;
    const char* problem;
  };
  const Row rows[] = {
      {"1 / (v - 5)", 11, "division by zero"},
      {"1 % 0", 11, "division by zero"},
      {"1 << 64", 11, "shifted by 63 at most"},
      {"ack(32)", 13, "five bits"},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      try {
        scope().number(expression(row.text));
        BOOST_ERROR("it was computed");
      } catch (const ScriptError& error) {
        BOOST_TEST(error.at().line == 3u);
        BOOST_TEST(error.at().column == row.column);
        BOOST_TEST(std::string(error.what()).find(row.problem) != std::string::npos, error.what());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bytes) {
  const auto bytes_of = [](const char* text) {
    return scope().bytes(bytes_expression(text),
                         [](const Place& place) { return Bytes(place.length, std::byte{9}); });
  };
  BOOST_CHECK((bytes_of("hex(\"de ad:BE\")") == Bytes{std::byte{0xDE}, std::byte{0xAD}, std::byte{0xBE}}));
  BOOST_CHECK((bytes_of("text(\"ab\")") == Bytes{std::byte{'a'}, std::byte{'b'}}));
  BOOST_CHECK(bytes_of("zeros(3)") == Bytes(3));
  BOOST_CHECK(bytes_of("u64(0x0201)").at(0) == std::byte{1});
  BOOST_TEST(bytes_of("u64(0x0201)").size() == 8u);
  BOOST_CHECK(bytes_of("m[0, 2]") == Bytes(2, std::byte{9}));
  // A bare number is a pattern, of which parts can be named.
  BOOST_CHECK(bytes_of("8") == bytes_of("pattern(8)"));
  BOOST_CHECK(bytes_of("pattern(8, 0, 4)").at(0) == bytes_of("8").at(4));
  BOOST_CHECK(bytes_of("pattern(8, 1)") != bytes_of("pattern(8)"));
  BOOST_CHECK_THROW(bytes_of("hex(\"abc\")"), ScriptError);
  BOOST_CHECK_THROW(bytes_of("hex(\"zz\")"), ScriptError);
  BOOST_CHECK_THROW(bytes_of("zeros(1 << 40)"), ScriptError);
}

BOOST_AUTO_TEST_CASE(places_lie_within_their_region) {
  const auto place_of = [](const char* text) { return scope().place(bytes_expression(text)); };
  BOOST_TEST(place_of("m[60, 4]").offset == 60u);
  BOOST_CHECK_NO_THROW(place_of("m[64, 0]"));
  for (const char* const text : {"m[61, 4]", "m[65, 0]", "m[-1, 1]", "m[0, -1]"})
    BOOST_CHECK_THROW(place_of(text), ScriptError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
