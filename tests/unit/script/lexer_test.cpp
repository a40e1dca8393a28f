#include "script/language/lexer.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace urnic::script {
namespace {

std::vector<Token> tokens_of(std::string_view text) {
  Lexer lexer(text);
  std::vector<Token> tokens;
  do {
    tokens.push_back(lexer.next());
  } while (tokens.back().kind != TokenKind::end);
  return tokens;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lexer)

BOOST_AUTO_TEST_CASE(numbers_and_spans_of_time) {
  struct Row {
    const char* text;
    TokenKind kind;
    std::uint64_t value;
  };
  const Row rows[] = {
      {"0", TokenKind::number, 0},
      {"18446744073709551615", TokenKind::number, ~std::uint64_t{0}},
      {"0xFfffffffffffffff", TokenKind::number, ~std::uint64_t{0}},
      {"0x10", TokenKind::number, 16},
      {"7ns", TokenKind::duration, 7},
      {"7us", TokenKind::duration, 7'000},
      {"1.5ms", TokenKind::duration, 1'500'000},
      {"0.000000001s", TokenKind::duration, 1},
      {"2s", TokenKind::duration, 2'000'000'000},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const Token token = tokens_of(row.text).front();
      BOOST_CHECK(token.kind == row.kind);
      BOOST_TEST(token.value == row.value);
      BOOST_TEST(token.text == row.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(words_signs_and_texts) {
  const auto tokens = tokens_of("send a bth.psn=100..m.addr != \"a b\" [0, 64]\n");
  const char* const expected[] = {
      "send", "a", "bth.psn", "=", "100", "..", "m.addr", "!=", "a b", "[", "0", ",", "64", "]", "\n", ""};
  BOOST_REQUIRE(tokens.size() == std::size(expected));
  for (std::size_t i = 0; i < tokens.size(); ++i) BOOST_TEST(tokens[i].text == expected[i]);
  BOOST_CHECK(tokens[8].kind == TokenKind::text);
}

BOOST_AUTO_TEST_CASE(places_count_lines_and_columns) {
  const auto tokens = tokens_of("# a comment\n  one \\\n two\n\tthree");
  // The comment's line has an end of its own.
  BOOST_CHECK((tokens[0].at == Position{1, 12}));
  BOOST_CHECK((tokens[1].at == Position{2, 3}));
  BOOST_CHECK((tokens[2].at == Position{3, 2}));  // a line that goes on
  BOOST_CHECK((tokens[4].at == Position{4, 2}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::script
