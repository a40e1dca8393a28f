// What of a table a page is told.
#include "web/server/row_changes.hpp"

#include <boost/test/unit_test.hpp>

#include "web/server/queue_pair_name.hpp"

namespace urnic::web::test {

using nlohmann::json;

BOOST_AUTO_TEST_SUITE(row_changes)

BOOST_AUTO_TEST_CASE(only_what_has_changed_is_told) {
  RowChanges changes;
  std::map<std::string, json> rows{{"a", {{"x", 1}}}, {"b", {{"x", 2}}}};
  BOOST_TEST(changes.since_last(rows).at("changed").size() == 2u);
  BOOST_TEST(changes.since_last(rows).is_null());
  rows["b"]["x"] = 3;
  BOOST_TEST(changes.since_last(rows) == parse_json(R"({"changed":{"b":{"x":3}},"gone":[]})"));
  rows.erase("a");
  BOOST_TEST(changes.since_last(rows) == parse_json(R"({"changed":{},"gone":["a"]})"));
  rows["a"] = {{"x", 1}};
  BOOST_TEST(changes.since_last(rows).at("changed").contains("a"));
}

BOOST_AUTO_TEST_CASE(a_queue_pair_has_a_name) {
  BOOST_TEST((parse_queue_pair_name("urnic0/17") == QueuePairName{"urnic0", 17}));
  for (const char* wrong :
       {"", "/", "/17", "urnic0", "urnic0/", "urnic0/x", "urnic0/17 ", "urnic0/-1", "urnic0/16777216"})
    BOOST_TEST(!parse_queue_pair_name(wrong).has_value(), wrong);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
