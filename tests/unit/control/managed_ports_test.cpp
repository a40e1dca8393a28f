// InfiniBand ports as programs and people see them: events, files, links that are cut.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "device_model/control/fabric/port_events.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/running_process.hpp"
#include "tests/unit/control/temporary_directory.hpp"

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

const std::string kTwoDevices =
    "subnet_manager = \"built_in\"\n[[devices]]\nlink_layer = \"infiniband\"\n[[devices]]\nlink_layer = "
    "\"infiniband\"\n";

// InfiniBand devices that the built-in manager has made active.
struct ManagedProcess {
  ManagedProcess() : ManagedProcess(kTwoDevices) {}
  explicit ManagedProcess(const std::string& text) : process({}, parse_configuration(text, "lab.toml")) {}

  RunningProcess process;
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
  const json status = admin.ask({{"cmd", "status"}});
  BOOST_TEST(status.at("devices").at(0).at("link") == "down");
  BOOST_TEST(status.at("devices").at(1).at("link") == "up");
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
  BOOST_TEST(one.at("urnic switch:2").at("peer") == "urnic1:1");
  BOOST_TEST(set_state("urnic switch:2", "down").at("links").at("urnic switch:2").at("state") == "down");
  BOOST_TEST(port_state("urnic0") == "active");
  BOOST_TEST(port_state("urnic1") == "down");
  BOOST_TEST(set_state("urnic switch", "down").at("links").size() == 2u);
  BOOST_TEST(port_state("urnic0") == "down");
  set_state("urnic switch", "up");
  BOOST_TEST(becomes_active("urnic0"));
  BOOST_TEST(becomes_active("urnic1"));
}

// By the names of the configuration: several switches may have the same description.
BOOST_AUTO_TEST_CASE(descriptions_of_switches_are_not_their_names) {
  ManagedProcess lab(kTwoDevices +
                     "[[fabric.switches]]\nname = \"leaf1\"\ndescription = \"Leaf\"\nports = 4\n"
                     "[[fabric.switches]]\nname = \"leaf2\"\ndescription = \"Leaf\"\nports = 4\n"
                     "[[fabric.links]]\nfrom = \"leaf1:4\"\nto = \"leaf2:3\"\n"
                     "[[fabric.links]]\nfrom = \"urnic1\"\nto = \"leaf2:1\"\n");
  const json links = lab.set_state("leaf2:1", "down").at("links");
  BOOST_TEST(links == json({{"leaf2:1", {{"state", "down"}, {"peer", "urnic1:1"}}}}));
  BOOST_TEST(lab.port_state("urnic0") == "active");
  BOOST_TEST(lab.port_state("urnic1") == "down");
  const json between = lab.admin.ask({{"cmd", "link"}, {"device", "leaf1:4"}}).at("links");
  BOOST_TEST(between.at("leaf1:4").at("peer") == "leaf2:3");
  const auto unknown = lab.error({{"cmd", "link"}, {"device", "Leaf:1"}});
  BOOST_TEST(unknown.find("there is no device \"Leaf:1\"") == 0u);
}

// A switch of a file has its node ID, a device the name that programs know.
BOOST_AUTO_TEST_CASE(switches_of_a_file_have_their_ids) {
  const TemporaryDirectory directory;
  const std::string file = (directory.path() / "lab.net").string();
  std::ofstream(file) << "Switch 4 \"S-1\" # \"Leaf\"\n[1] \"H-1\"[1]\n[2] \"S-1:2\"[2]\n\n"
                         "Switch 4 \"S-1:2\" # \"Leaf\"\n[1] \"H-2\"[1]\n\n"
                         "Hca 1 \"H-1\"\n\nHca 1 \"H-2\"\n";
  ManagedProcess lab("subnet_manager = \"built_in\"\nibsim_net = \"" + file + "\"\n");
  const json links = lab.set_state("S-1:2:1", "down").at("links");
  BOOST_TEST(links == json({{"S-1:2:1", {{"state", "down"}, {"peer", "urnic1:1"}}}}));
  BOOST_TEST(lab.port_state("urnic1") == "down");
  const auto ambiguous = lab.error({{"cmd", "link"}, {"device", "S-1:2"}, {"set", {{"state", "down"}}}});
  BOOST_TEST(ambiguous.find("S-1:2: it is a switch, and may be a port of the switch S-1") == 0u);
  BOOST_TEST(lab.port_state("urnic0") == "active");
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
