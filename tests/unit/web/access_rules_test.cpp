// Who may ask the server for what.
#include "web/server/access_rules.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::web::test {
namespace {

const AccessRules kRules("0123456789abcdef", {"127.0.0.1:4711", "localhost:4711"});

struct Row {
  RequestHead head;
  int status;            // 0: may go on
  int status_with_data;  // the same for data and changes
};

const std::string kToken = "Bearer 0123456789abcdef";

const Row kRows[] = {
    {{"127.0.0.1:4711", "", ""}, 0, 401},
    {{"127.0.0.1:4711", "", kToken}, 0, 0},
    {{"localhost:4711", "", kToken}, 0, 0},
    {{"localhost:4711", "http://localhost:4711", kToken}, 0, 0},
    {{"localhost:4711", "http://127.0.0.1:4711", kToken}, 0, 0},
    // A site whose name leads to 127.0.0.1, with the token or without.
    {{"evil.example:4711", "", kToken}, 421, 0},
    {{"evil.example", "", ""}, 421, 401},
    {{"localhost", "", kToken}, 421, 0},
    {{"localhost:4712", "", kToken}, 421, 0},
    {{"", "", kToken}, 421, 0},
    // Pages of other sites.
    {{"localhost:4711", "http://evil.example", kToken}, 403, 0},
    {{"localhost:4711", "http://localhost:9", kToken}, 403, 0},
    {{"localhost:4711", "https://localhost:4711", kToken}, 403, 0},
    {{"localhost:4711", "null", kToken}, 403, 0},
    // Wrong tokens.
    {{"localhost:4711", "", "Bearer 0123456789abcdeF"}, 0, 401},
    {{"localhost:4711", "", "Bearer 0123456789abcde"}, 0, 401},
    {{"localhost:4711", "", "Bearer 0123456789abcdef0"}, 0, 401},
    {{"localhost:4711", "", "0123456789abcdef"}, 0, 401},
    {{"localhost:4711", "", "Bearer "}, 0, 401},
    {{"localhost:4711", "", "Basic 0123456789abcdef"}, 0, 401},
};

int status_of(const std::optional<AccessRefusal>& refusal) { return refusal ? refusal->status : 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(access_rules)

BOOST_AUTO_TEST_CASE(host_origin_and_token_decide) {
  for (const Row& row : kRows) {
    BOOST_TEST_CONTEXT("Host " << row.head.host << ", Origin " << row.head.origin << ", "
                               << row.head.authorization) {
      BOOST_TEST(status_of(kRules.refuses(row.head)) == row.status);
      BOOST_TEST(status_of(kRules.refuses_without_token(row.head)) == row.status_with_data);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
