// Errors in plans name the place and what is allowed; the examples in the documentation are valid.
#include "device_model/fault/plan_file.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/fault/planned_ports.hpp"

namespace urnic::fault::test {

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_plan(text, "plan.toml", kDevices);
  } catch (const settings::SettingError& error) {
    return error.what();
  }
  return "no error";
}

// Checks that `line`, the third of a plan, is refused with these words.
void check_error(const std::string& line, const std::string& key, const std::string& allowed) {
  const std::string error = error_of("[[fault]]\naction = \"drop\"\n" + line + "\n");
  BOOST_TEST_CONTEXT(error) {
    BOOST_TEST(error.starts_with("plan.toml:3: fault." + key));
    BOOST_TEST(error.find(allowed) != std::string::npos);
    BOOST_TEST(error.find('\n') == std::string::npos);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_file)

BOOST_AUTO_TEST_CASE(every_setting_is_taken) {
  const auto rules = parse_plan(R"(
[[fault]]
name = "one"
device = "urnic1"
direction = "rx"
filter = "udp"
qp = 17
opcode = ["RC Send First", "Fetch Add"]
mad = ['SubnSet(PortInfo)', 'SubnAdmGetTable']
psn = [1, 2]
transmission = 2
occurrence = 3
count = 4
action = "reorder"
behind_packets = 5
hold_us = 1.5
[[fault]]
qp_ordinal = 6
relative_psn = 7
every = 100
action = "cut_link"
for_us = 8
)",
                                "plan.toml", kDevices);
  BOOST_REQUIRE_EQUAL(rules.size(), 2);
  const Match& match = rules[0].match;
  BOOST_TEST(rules[0].name == "one");
  BOOST_TEST((match.device == 1u));
  BOOST_TEST((match.direction == link::Direction::receive));
  BOOST_TEST(match.filter == "udp");
  BOOST_TEST((match.qp == wire::Qpn{17}));
  BOOST_TEST(match.opcodes[0x00]);
  BOOST_TEST(!match.opcodes[0x20]);  // UC Send First
  BOOST_TEST(match.opcodes[0x14]);
  BOOST_TEST(match.opcodes[0xB4]);  // XRC Fetch Add
  using wire::mad::ManagementClass;
  using wire::mad::Method;
  BOOST_REQUIRE_EQUAL(match.mads.size(), 2);
  const wire::mad::MadHeader directed{
      .management_class = ManagementClass::subnet_directed_route, .method = Method::set, .attribute = {0x15}};
  BOOST_TEST(match.mads[0].matches(directed));
  BOOST_TEST(!match.mads[1].matches(directed));
  const wire::mad::MadHeader table{.management_class = ManagementClass::subnet_administration,
                                   .method = static_cast<Method>(0x12),
                                   .attribute = {0x35}};
  BOOST_TEST(match.mads[1].matches(table));
  BOOST_TEST(match.psns == (std::vector<std::uint32_t>{1, 2}), boost::test_tools::per_element());
  BOOST_TEST(!match.psns_relative);
  BOOST_TEST(match.transmission == 2);
  BOOST_TEST(match.occurrence == 3);
  BOOST_TEST(match.count == 4);
  BOOST_TEST((rules[0].action.kind == ActionKind::reorder));
  BOOST_TEST(rules[0].action.behind == 5);
  BOOST_TEST(rules[0].action.hold.count() == 1500);
  BOOST_TEST(rules[1].name == "fault 2");
  BOOST_TEST(rules[1].match.qp_ordinal == 6);
  BOOST_TEST(rules[1].match.psns_relative);
  BOOST_TEST(rules[1].match.every == 100);
  BOOST_TEST(rules[1].action.cut.count() == 8000);
}

BOOST_AUTO_TEST_CASE(errors_name_line_key_and_what_is_allowed) {
  check_error("device = \"urnic7\"", "device = 'urnic7'", "\"all\", \"urnic0\", \"urnic1\"");
  check_error("direction = \"up\"", "direction", "\"tx\", \"rx\"");
  check_error("filter = \"udp prot 1\"", "filter", "libpcap filter expression");
  check_error("filter = 7", "filter", "libpcap filter expression");
  check_error("qp = 16777215", "qp", "from 0 to 16777214");
  check_error("qp_ordinal = 0", "qp_ordinal", "from 1");
  check_error("opcode = \"Sent First\"", "opcode = 'Sent First'", "\"Send First\"");
  check_error("opcode = []", "opcode", "a list of one or more");
  check_error("mad = \"PortInfo\"", "mad = 'PortInfo'", "\"SubnSet(PortInfo)\"");
  check_error("mad = [\"SubnGet\", \"SubnGet(PathRecord)\"]", "mad = 'SubnGet(PathRecord)'",
              "a list of them");
  check_error("mad = [\"SubnGet(PortInfo\"]", "mad = 'SubnGet(PortInfo'", "a list of them");
  check_error("mad = \"VendorGet\"", "mad = 'VendorGet'", "of the classes Subn, SubnAdm and Performance");
  check_error("mad = []", "mad", "a list of one or more");
  check_error("psn = 16777216", "psn", "from 0 to 16777215");
  check_error("psn = []", "psn", "a list of 1 to");
  check_error("relative_psn = -1", "relative_psn", "from 0 to 16777215");
  check_error("transmission = 0", "transmission", "from 1");
  check_error("occurrence = \"second\"", "occurrence", "a whole number");
  check_error("every = 0.5", "every", "a whole number");
  check_error("count = 0", "count", "from 1");
  check_error("delay_us = 3", "delay_us: no such setting", "known here are name, device");
  check_error("name = \"\"", "name", "1 to 60 characters");
}

BOOST_AUTO_TEST_CASE(errors_of_actions) {
  BOOST_TEST(error_of("[[fault]]\npsn = 1\n").find("action is missing") != std::string::npos);
  const auto check = [](const std::string& lines, const std::string& allowed) {
    const std::string error = error_of("[[fault]]\n" + lines);
    BOOST_TEST_CONTEXT(error) BOOST_TEST(error.find(allowed) != std::string::npos);
  };
  check("action = \"explode\"", "\"cut_link\", \"stop_qp\"");
  check("action = \"duplicate\"\ncopies = 17", "from 1 to 16");
  check("action = \"delay\"\ndelay_us = -1", "microseconds");
  check("action = \"reorder\"\nbehind_packets = 0", "from 1 to 1024");
  check("action = \"corrupt_after_icrc\"\nbits = [1,2,3,4,5,6,7,8,9]", "a list of 1 to 8");
  check("action = \"rnr_nak\"\ntimer_code = 32", "from 0 to 31");
  check("action = \"nak\"\ncode = \"sorry\"", "\"remote_access_error\"");
}

BOOST_AUTO_TEST_CASE(contradictions_and_empty_plans) {
  const std::string rule = "[[fault]]\naction = \"drop\"\n";
  BOOST_TEST(error_of(rule + "qp = 5\nqp_ordinal = 1").find("not both") != std::string::npos);
  BOOST_TEST(error_of(rule + "psn = 5\nrelative_psn = 1").find("not both") != std::string::npos);
  BOOST_TEST(error_of(rule + "every = 5\noccurrence = 1").find("not both") != std::string::npos);
  BOOST_TEST(error_of("").starts_with("plan.toml:1:"));
  BOOST_TEST(error_of("[fault]\naction = \"drop\"").find("sections [[fault]]") != std::string::npos);
  BOOST_TEST(error_of("[[fault]\n").find("plan.toml:1: not TOML") != std::string::npos);
  // libpcap would compile what is before it.
  for (const char* plan : {"[[fault]]\nfilter = \"udp\\u0000 nonsense\"\naction = \"drop\"\n",
                           "[[fault]]\nopcode = [\"Acknowledge\\u0000\"]\naction = \"drop\"\n",
                           "[[fault]]\n\"na\\u0000me\" = \"x\"\naction = \"drop\"\n"})
    BOOST_TEST(error_of(plan).find("NUL character") != std::string::npos, plan << error_of(plan));
  BOOST_TEST(error_of("a = fa\n").find('\n') == std::string::npos);
  BOOST_TEST(error_of("\"a\\nb\" = 1\n").find('\n') == std::string::npos);
  BOOST_TEST(error_of("[[rule]]\n").find("rule: no such setting; known here are fault") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_documentations_examples_are_plans) {
  int plans = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EXAMPLE_PLANS)) {
    if (entry.path().extension() != ".toml") continue;
    std::ifstream stream(entry.path());
    std::ostringstream text;
    text << stream.rdbuf();
    BOOST_TEST_CONTEXT(entry.path()) {
      BOOST_TEST(!FaultPlan(parse_plan(text.str(), entry.path(), kDevices)).states().empty());
    }
    ++plans;
  }
  BOOST_TEST(plans >= 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
