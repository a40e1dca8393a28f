// InfiniBand ports as programs and people see them: events, files, links that are cut.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/port_events.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {
namespace {

namespace data = boost::unit_test::data;
using engine::DeviceEvent;
using nlohmann::json;
using Events = std::vector<DeviceEvent>;

const ManagedPort kActive{.is_active = true, .lid = {3}, .manager_lid = {1}, .pkeys = {0xFFFF}};

struct Step {
  const char* what;
  void (*change)(ManagedPort&);
  Events events;
};
std::ostream& operator<<(std::ostream& out, const Step& step) { return out << step.what; }

const std::vector<Step> kSteps{
    {"nothing", [](ManagedPort&) {}, {}},
    {"down", [](ManagedPort& port) { port.is_active = false; }, {DeviceEvent::port_error}},
    {"another LID", [](ManagedPort& port) { port.lid = {4}; }, {DeviceEvent::lid_change}},
    {"another LMC", [](ManagedPort& port) { port.lmc = 1; }, {DeviceEvent::lid_change}},
    {"another manager", [](ManagedPort& port) { port.manager_lid = {2}; }, {DeviceEvent::manager_change}},
    {"another service level to it",
     [](ManagedPort& port) { port.manager_sl = 2; },
     {DeviceEvent::manager_change}},
    {"another P_Key", [](ManagedPort& port) { port.pkeys[1] = 0x8007; }, {DeviceEvent::pkey_change}},
    {"register again", [](ManagedPort& port) { ++port.reregistrations; }, {DeviceEvent::client_reregister}},
};

// Two InfiniBand devices that the built-in manager has made active.
struct ManagedProcess {
  RunningProcess process{{},
                         parse_configuration("subnet_manager = \"built_in\"\n[[devices]]\nlink_layer = "
                                             "\"infiniband\"\n[[devices]]\nlink_layer = \"infiniband\"\n",
                                             "lab.toml")};
  AdminProgram admin{process};

  json set_state(const std::string& link, const char* state) {
    return admin.ask({{"cmd", "link"}, {"device", link}, {"set", {{"state", state}}}});
  }
  std::string error(const json& request) { return admin.ask(request).value("error", "no error"); }
  std::string port_state(const std::string& name) {
    const json answer = admin.ask({{"cmd", "subnet"}});
    for (const json& port : answer.at("subnet").at("ports"))
      if (port.at("device") == name) return port.at("state").get<std::string>();
    return "no such device";
  }
  // The built-in manager acts soon, not at once.
  bool becomes_active(const std::string& name) {
    for (int i = 0; i < 6000 && port_state(name) != "active"; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return port_state(name) == "active";
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(managed_ports)

BOOST_DATA_TEST_CASE(events_tell_what_has_changed, data::make(kSteps), step) {
  ManagedPort after = kActive;
  step.change(after);
  BOOST_TEST((events_between(kActive, after) == step.events));
}

BOOST_AUTO_TEST_CASE(a_port_is_active_last) {
  const Events expected{DeviceEvent::lid_change, DeviceEvent::manager_change, DeviceEvent::pkey_change,
                        DeviceEvent::port_active};
  BOOST_TEST((events_between(ManagedPort{}, kActive) == expected));
}

BOOST_FIXTURE_TEST_CASE(a_devices_link_is_cut_and_comes_back, ManagedProcess) {
  BOOST_TEST(process.port_file(0, "state") == "4: ACTIVE\n");
  const json cut = set_state("urnic0", "down").at("links").at("urnic0");
  BOOST_TEST(cut.at("state") == "down");
  BOOST_TEST(process.port_file(0, "state") == "1: DOWN\n");
  BOOST_TEST(process.port_file(0, "phys_state") == "2: Polling\n");
  BOOST_TEST(port_state("urnic1") == "active");
  const json counters = admin.ask({{"cmd", "counters"}}).at("devices").at("urnic0");
  BOOST_TEST(counters.at("link_downed") == 1);
  set_state("urnic0", "up");
  BOOST_TEST(becomes_active("urnic0"));
  BOOST_TEST(process.port_file(0, "state") == "4: ACTIVE\n");
}

BOOST_FIXTURE_TEST_CASE(a_switchs_links_have_names, ManagedProcess) {
  const json one = admin.ask({{"cmd", "link"}, {"device", "urnic switch:2"}}).at("links");
  BOOST_TEST(one.size() == 1u);
  BOOST_TEST(one.at("urnic switch:2").at("state") == "up");
  BOOST_TEST(one.at("urnic switch:2").at("peer").get<std::string>().find(" urnic1:1") != std::string::npos);
  BOOST_TEST(set_state("urnic switch:2", "down").at("links").at("urnic switch:2").at("state") == "down");
  BOOST_TEST(port_state("urnic0") == "active");
  BOOST_TEST(port_state("urnic1") == "down");
  BOOST_TEST(set_state("urnic switch", "down").at("links").size() == 2u);
  BOOST_TEST(port_state("urnic0") == "down");
  set_state("urnic switch", "up");
  BOOST_TEST(becomes_active("urnic0"));
  BOOST_TEST(becomes_active("urnic1"));
}

BOOST_FIXTURE_TEST_CASE(wrong_names_of_links_are_told, ManagedProcess) {
  const auto said = [&](const char* link) {
    return error({{"cmd", "link"}, {"device", link}, {"set", {{"state", "down"}}}});
  };
  BOOST_TEST(said("urnic switch:9") == "urnic switch: the switch has ports 1 to 8, not \"9\"");
  BOOST_TEST(said("urnic switch:x") == "urnic switch: the switch has ports 1 to 8, not \"x\"");
  BOOST_TEST(said("urnic switch:0") == "urnic switch: the switch has ports 1 to 8, not \"0\"");
  BOOST_TEST(said("urnic switch:5") == "urnic switch:5: no link ends there");
  BOOST_TEST(said("leaf:5").find("there is no device \"leaf:5\"") == 0u);
  const auto unwanted = error({{"cmd", "link"}, {"device", "urnic switch:2"}, {"set", {{"loss", 0.1}}}});
  BOOST_TEST(unwanted == "of a switch's link only state can be set: \"up\" or \"down\"");
  BOOST_TEST(port_state("urnic1") == "active");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
