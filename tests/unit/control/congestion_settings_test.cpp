// Settings of congestion control: in the configuration, and by the admin socket.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <sstream>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/congestion_keys.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/socket_program.hpp"

namespace urnic::control::test {
namespace {

using nlohmann::json;
using transport::CongestionAlgorithm;
using transport::CongestionSettings;

// Another allowed value than the default.
double other_value(const CongestionKey& key) {
  const double value = key.get(CongestionSettings{});
  if (key.flag) return value == 0 ? 1 : 0;
  return value / 2 >= key.lowest && !key.whole ? value / 2 : value + 1;
}

std::string toml_value(const CongestionKey& key, double value) {
  if (key.flag) return value == 0 ? "false" : "true";
  std::ostringstream text;
  text.precision(17);
  text << std::fixed << value;
  return key.whole ? text.str().substr(0, text.str().find('.')) : text.str();
}

std::string problem_of(const std::string& text) {
  try {
    parse_configuration(text, "file.toml");
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

struct Admin {
  RunningProcess process;
  AdminProgram admin{process};

  std::string error(const json& request) { return admin.ask(request).value("error", "no error"); }
  // Of the devices.
  std::string algorithms() {
    const json status = admin.ask({{"cmd", "status"}});
    std::string names;
    for (const auto& device : status.at("devices")) names += device.at("congestion").get<std::string>() + ' ';
    return names;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(congestion_settings)

BOOST_AUTO_TEST_CASE(it_is_off_and_chosen_for_all_or_for_a_device) {
  for (const DeviceSettings& device : default_configuration().devices)
    BOOST_TEST((device.congestion.algorithm == CongestionAlgorithm::off));
  const Configuration chosen = parse_configuration(R"(
    [device]
    congestion = "rtt"
    [[devices]]
    [[devices]]
    congestion = "dcqcn"
  )",
                                                   "file.toml");
  BOOST_TEST((chosen.devices[0].congestion.algorithm == CongestionAlgorithm::rtt));
  BOOST_TEST((chosen.devices[1].congestion.algorithm == CongestionAlgorithm::dcqcn));
}

// By what their receivers tell, not by the time that software takes.
BOOST_AUTO_TEST_CASE(on_udp_wires_it_is_on_with_settings_for_software) {
  const auto congestion = [](const std::string& above, const std::string& of_device) {
    const std::string text = above + "[[devices]]\nwire = \"udp\"\naddresses = [\"127.0.0.1\"]\n" + of_device;
    return parse_configuration(text, "file.toml").devices[0].congestion;
  };
  const auto by_default = congestion("", "");
  BOOST_TEST((by_default.algorithm == CongestionAlgorithm::rtt));
  BOOST_TEST(!by_default.slow_restart);
  BOOST_TEST(by_default.rtt.headroom.count() == 50'000'000);
  BOOST_TEST((congestion("", "congestion = \"off\"\n").algorithm == CongestionAlgorithm::off));
  BOOST_TEST((congestion("[device]\ncongestion = \"off\"\n", "").algorithm == CongestionAlgorithm::off));
  const auto other = congestion("[congestion]\nrtt_headroom_us = 7\n", "congestion = \"dcqcn\"\n");
  BOOST_TEST((other.algorithm == CongestionAlgorithm::dcqcn));
  BOOST_TEST(other.burst.count() == 100'000);
  BOOST_TEST(other.rtt.headroom.count() == 7'000);
}

BOOST_AUTO_TEST_CASE(every_setting_is_taken_for_all_devices_and_no_other_changes) {
  for (const CongestionKey& changed : congestion_keys()) {
    const double value = other_value(changed);
    const std::string text =
        "[congestion]\n" + std::string(changed.name) + " = " + toml_value(changed, value);
    const Configuration configuration = parse_configuration(text, "file.toml");
    for (const DeviceSettings& device : configuration.devices)
      for (const CongestionKey& key : congestion_keys())
        BOOST_TEST(key.get(device.congestion) == (key.name == changed.name ? value : key.get({})),
                   boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(wrong_settings_are_named_with_what_is_allowed) {
  BOOST_TEST(problem_of("[congestion]\ncnp_dscp = 64\n").find("file.toml:2: congestion.cnp_dscp = 64") == 0u);
  BOOST_TEST(problem_of("[congestion]\nslow_restart = 1\n").find("congestion.slow_restart") !=
             std::string::npos);
  BOOST_TEST(problem_of("[congestion]\ngain = 1\n").find("gain") != std::string::npos);
  BOOST_TEST(problem_of("[device]\ncongestion = \"dctcp\"\n").find("dcqcn") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_documentation_has_each_setting_with_its_default) {
  std::ifstream file(URNIC_DOCS_DIR "/congestion.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  for (const CongestionKey& key : congestion_keys())
    BOOST_TEST(page.find("`" + std::string(key.name) + "`") != std::string::npos, key.name);
}

BOOST_AUTO_TEST_CASE(a_link_with_a_rate_is_the_line) {
  DeviceSettings device;
  BOOST_TEST(congestion_of(device).line.gbps() == 100);
  device.transmit_link.rate_gbps = 25;
  BOOST_TEST(congestion_of(device).line.gbps() == 25);
  device.congestion.line = transport::SendRate::gbps(10);
  BOOST_TEST(congestion_of(device).line.gbps() == 10);
}

BOOST_FIXTURE_TEST_CASE(the_admin_socket_sets_it_for_one_device_or_for_all, Admin) {
  admin.ask({{"cmd", "set"}, {"congestion", "dcqcn"}, {"device", "urnic1"}});
  BOOST_TEST(algorithms() == "off dcqcn ");
  admin.ask({{"cmd", "set"}, {"congestion", "rtt"}, {"settings", {{"rtt_headroom_us", 7}}}});
  BOOST_TEST(algorithms() == "rtt rtt ");
}

BOOST_FIXTURE_TEST_CASE(the_admin_socket_changes_nothing_if_anything_is_wrong, Admin) {
  const auto refusal = [&](const json& settings) {
    return error({{"cmd", "set"}, {"congestion", "dcqcn"}, {"settings", settings}});
  };
  BOOST_TEST(error({{"cmd", "set"}, {"congestion", "dctcp"}}).find("\"off\", \"dcqcn\"") !=
             std::string::npos);
  BOOST_TEST(refusal({{"cnp_dscp", 64}}).find("0 to 63") != std::string::npos);
  BOOST_TEST(refusal({{"slow_restart", 1}}).find("true or false") != std::string::npos);
  BOOST_TEST(refusal({{"gain", 1}}).find("known are line_rate_gbps") != std::string::npos);
  BOOST_TEST(refusal(json::array()).find("must be an object") != std::string::npos);
  BOOST_TEST(error({{"cmd", "set"}, {"congestion", "dcqcn"}, {"qp", 5}}).find("there is no QP 5") !=
             std::string::npos);
  BOOST_TEST(algorithms() == "off off ");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
