// The token, and the file in which it may be kept.
#include "trust/access_token.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::trust::test {
namespace {

struct TokenFile {
  control::test::TemporaryDirectory directory;
  std::filesystem::path file = directory.path() / "token";

  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(file, std::ios::binary) << text;
    chmod(file.c_str(), mode);
  }
  std::string refusal() {
    try {
      token_in(file);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(access_token, TokenFile)

BOOST_AUTO_TEST_CASE(tokens_are_long_and_differ) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) tokens.insert(new_token());
  BOOST_TEST(tokens.size() == 100u);
  BOOST_TEST(tokens.begin()->size() == 32u);
}

BOOST_AUTO_TEST_CASE(a_file_is_made_for_this_user_and_read_again) {
  const std::string token = token_in(file);
  struct stat about {};
  BOOST_REQUIRE(stat(file.c_str(), &about) == 0);
  BOOST_TEST((about.st_mode & 0777) == 0600);
  BOOST_TEST(token_in(file) == token);
}

BOOST_AUTO_TEST_CASE(a_file_that_others_may_read_is_refused) {
  write("0123456789abcdef\n", 0640);
  BOOST_TEST(refusal().find("can be read by others") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_is_no_token_is_refused) {
  for (const std::string text : {"", "short\n", "0123456789 abcdef\n", "0123456789abcdef\nmore\n"}) {
    write(text);
    BOOST_TEST(refusal().find("does not hold a token") != std::string::npos, text);
  }
  write(std::string(129, 'a'));
  BOOST_TEST(refusal().find("does not hold a token") != std::string::npos);
  std::filesystem::remove(file);
  std::filesystem::create_symlink("/dev/null", file);
  BOOST_TEST(refusal().find("cannot be read") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::trust::test
