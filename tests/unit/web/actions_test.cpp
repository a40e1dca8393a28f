// What a page may change, and the request that becomes of it.
#include "web/server/actions.hpp"

#include <boost/test/unit_test.hpp>

#include "device_model/fault/plan_file.hpp"

namespace urnic::web::test {
namespace {

using nlohmann::json;

json parsed(const char* text) { return parse_json(text); }

template <typename Make>
std::string refusal(Make make, const char* action) {
  try {
    make(parsed(action));
  } catch (const WrongAction& error) {
    return error.what();
  }
  return "";
}

json fault(const json& action) { return fault_request(action, 7); }

}  // namespace

BOOST_AUTO_TEST_SUITE(actions)

BOOST_AUTO_TEST_CASE(a_link_setting_becomes_a_link_request) {
  BOOST_TEST(
      link_request(parsed(R"({"device":"urnic0","direction":"tx","set":{"loss":0.01},"cmd":"down"})")) ==
      parsed(R"({"cmd":"link","device":"urnic0","direction":"tx","set":{"loss":0.01}})"));
}

BOOST_AUTO_TEST_CASE(other_link_requests_are_refused) {
  for (const char* action :
       {R"({})", R"({"device":7,"direction":"tx","set":{"loss":0}})",
        R"({"device":"urnic0","set":{"loss":0}})", R"({"device":"urnic0","direction":"up","set":{"loss":0}})",
        R"({"device":"urnic0","direction":"tx"})", R"({"device":"urnic0","direction":"tx","set":{}})",
        R"({"device":"urnic0","direction":"tx","set":{"recovery":"gbn"}})",
        R"({"device":"urnic0\"","direction":"tx","set":{"loss":0}})"})
    BOOST_TEST(!refusal(link_request, action).empty(), action);
}

BOOST_AUTO_TEST_CASE(a_recovery_is_of_a_device_or_of_a_queue_pair) {
  BOOST_TEST(recovery_request(parsed(R"({"device":"urnic0","recovery":"gbn"})")) ==
             parsed(R"({"cmd":"set","device":"urnic0","recovery":"gbn"})"));
  BOOST_TEST(recovery_request(parsed(R"({"device":"urnic0","recovery":"gbn","qp":17})")).at("qp") == 17);
  BOOST_TEST(!refusal(recovery_request, R"({"device":"urnic0","recovery":"gbn","qp":-1})").empty());
}

BOOST_AUTO_TEST_CASE(congestion_control_is_of_a_device_or_of_a_queue_pair) {
  BOOST_TEST(congestion_request(
                 parsed(R"({"device":"urnic0","congestion":"dcqcn","settings":{},"recovery":"gbn"})")) ==
             parsed(R"({"cmd":"set","device":"urnic0","congestion":"dcqcn"})"));
  BOOST_TEST(congestion_request(parsed(R"({"device":"urnic0","congestion":"rtt","qp":17})")).at("qp") == 17);
  for (const char* action :
       {R"({"device":"urnic0"})", R"({"congestion":"rtt"})", R"({"device":"urnic0","congestion":1})",
        R"({"device":"urnic0","congestion":"rtt","qp":-1})"})
    BOOST_TEST(!refusal(congestion_request, action).empty(), action);
}

// The device process takes each text that a button can make.
BOOST_AUTO_TEST_CASE(every_button_makes_a_right_plan) {
  const std::string devices[] = {"urnic0"};
  for (const char* action : {"drop", "duplicate", "delay", "reorder", "corrupt_before_icrc",
                             "corrupt_after_icrc", "mark_ecn", "rnr_nak", "nak", "cut_link", "stop_qp"}) {
    for (const char* packets : {"any", "acknowledge", "request", "read_response"}) {
      const json request = fault(
          {{"device", "urnic0"}, {"qpn", 17u}, {"packets", packets}, {"action", action}, {"times", 2u}});
      BOOST_TEST(request.at("do") == "add");
      BOOST_TEST(request.at("times") == 2);
      const auto rules = fault::parse_plan(request.at("text").get<std::string>(), "page", devices);
      BOOST_REQUIRE(rules.size() == 1u);
      BOOST_TEST(rules[0].match.qp->value == 17u);
      BOOST_TEST(rules[0].match.opcodes.any() == (std::string(packets) != "any"));
    }
  }
}

BOOST_AUTO_TEST_CASE(other_faults_are_refused) {
  for (const char* action :
       {R"({"device":"urnic0","qpn":1,"packets":"any","action":"burn"})",
        R"({"device":"urnic0","qpn":1,"packets":"every","action":"drop"})",
        R"({"device":"urnic0","qpn":16777216,"packets":"any","action":"drop"})",
        R"({"device":"urnic0","qpn":1,"packets":"any","action":"drop","times":0})",
        R"({"device":"urnic0\"\naction = \"drop","qpn":1,"packets":"any","action":"drop"})"})
    BOOST_TEST(!refusal(fault, action).empty(), action);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
