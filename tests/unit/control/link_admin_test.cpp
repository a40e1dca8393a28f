// The admin socket's requests about links, recovery and fault plans.
#include <boost/test/unit_test.hpp>
#include <fstream>

#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/socket_program.hpp"

namespace urnic::control::test {
namespace {

using nlohmann::json;

json set_link(const json& values, const char* direction = "both") {
  return {{"cmd", "link"}, {"device", "urnic0"}, {"direction", direction}, {"set", values}};
}

struct LinkAdmin {
  RunningProcess process;
  AdminProgram admin{process};
  std::vector<std::byte> memory = std::vector<std::byte>(8192);

  // The error's words, or "no error".
  std::string error(const json& request) { return admin.ask(request).value("error", "no error"); }
  json plan(const std::string& what) { return admin.ask({{"cmd", "fault"}, {"do", what}}).at("plan"); }
  json load(const std::string& text) {
    return admin.ask({{"cmd", "fault"}, {"do", "load"}, {"name", "plan.toml"}, {"text", text}});
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(link_admin, LinkAdmin)

BOOST_AUTO_TEST_CASE(settings_change_one_direction_and_keep_the_rest) {
  admin.ask(set_link({{"loss", 0.25}, {"delay_us", 3}}));
  const json link = admin.ask(set_link({{"loss", 0}}, "rx")).at("links").at("urnic0");
  BOOST_TEST(link.at("tx").at("settings").at("loss") == 0.25);
  BOOST_TEST(link.at("rx").at("settings").at("loss") == 0);
  BOOST_TEST(link.at("rx").at("settings").at("delay_us") == 3);
  const json all = admin.ask({{"cmd", "link"}}).at("links");
  BOOST_TEST(all.size() == 2);
  BOOST_TEST(all.at("urnic1").at("tx").at("settings") == admin.ask({{"cmd", "link"}}).at("defaults"));
}

BOOST_AUTO_TEST_CASE(a_wrong_setting_changes_nothing) {
  BOOST_TEST(error(set_link({{"delay_us", 3}, {"loss", 2}})).find("loss = 2: allowed is a probability") == 0);
  BOOST_TEST(error(set_link({{"los", 1}})).find("known are state, recovery, rate_gbps") != std::string::npos);
  BOOST_TEST(error(set_link({{"state", "sideways"}})).find("\"up\" or \"down\"") != std::string::npos);
  BOOST_TEST(error(set_link({{"loss", 0}}, "up")).find("\"tx\", \"rx\" or \"both\"") != std::string::npos);
  BOOST_TEST(error({{"cmd", "link"}, {"set", {{"loss", 0}}}}).find("device") != std::string::npos);
  const json link = admin.ask({{"cmd", "link"}, {"device", "urnic0"}}).at("links").at("urnic0");
  BOOST_TEST(link.at("tx").at("settings").at("delay_us") == 0);
}

// Each setting alone is allowed. Settings of one request are looked at together, whatever their order.
BOOST_AUTO_TEST_CASE(settings_that_contradict_one_another_change_nothing) {
  BOOST_TEST(error(set_link({{"ecn_probability", 0.5}})) ==
             "urnic0 tx: ecn_probability = 0.5: allowed is 0 without ecn_max_bytes, up to which the "
             "probability rises");
  admin.ask(set_link({{"ecn_max_bytes", 1000}, {"ecn_min_bytes", 10}, {"ecn_probability", 0.5}}, "rx"));
  json request = set_link({{"ecn_min_bytes", 100}});
  request["device"] = "all";
  BOOST_TEST(error(request).find("urnic0 tx: ecn_min_bytes = 100: allowed is no more than ecn_max_bytes") ==
             0);
  request = set_link({{"ecn_min_bytes", 1001}}, "rx");
  BOOST_TEST(error(request).find("urnic0 rx: ecn_min_bytes = 1001") == 0);
  const json rx = admin.ask({{"cmd", "link"}, {"device", "urnic0"}}).at("links").at("urnic0").at("rx");
  BOOST_TEST(rx.at("settings").at("ecn_min_bytes") == 10);
  BOOST_TEST(rx.at("settings").at("ecn_max_bytes") == 1000);
}

BOOST_AUTO_TEST_CASE(priority_flow_control_is_on_or_off) {
  const json link = admin.ask(set_link({{"pfc", true}, {"pfc_xoff_bytes", 70000}})).at("links").at("urnic0");
  BOOST_TEST(link.at("tx").at("settings").at("pfc") == true);
  BOOST_TEST(link.at("rx").at("settings").at("pfc_xoff_bytes") == 70000);
  BOOST_TEST(link.at("rx").at("counters").at("prio3_pause") == 0);
  BOOST_TEST(error(set_link({{"pfc", 1}})) == "pfc = 1: allowed is true or false");
  BOOST_TEST(error(set_link({{"pfc_xon_bytes", 70001}})).find("no more than pfc_xoff_bytes") !=
             std::string::npos);
}

// As in a configuration.
BOOST_AUTO_TEST_CASE(all_means_every_device) {
  json request = set_link({{"loss", 0.25}, {"state", "down"}, {"recovery", "irn"}}, "tx");
  request["device"] = "all";
  const json links = admin.ask(request).at("links");
  const json status = admin.ask({{"cmd", "status"}});
  for (const int device : {0, 1}) {
    const std::string name = "urnic" + std::to_string(device);
    BOOST_TEST(links.at(name).at("tx").at("settings").at("loss") == 0.25);
    BOOST_TEST(links.at(name).at("rx").at("settings").at("loss") == 0);
    BOOST_TEST(links.at(name).at("state") == "down");
    BOOST_TEST(process.port_file(device, "state") == "1: DOWN\n");
    BOOST_TEST(status.at("devices")[static_cast<std::size_t>(device)].at("recovery") == "irn");
  }
  for (const json& asks : {json{{"cmd", "link"}}, json{{"cmd", "gid"}}, json{{"cmd", "counters"}}}) {
    json of_all = asks;
    of_all["device"] = "all";
    BOOST_TEST(admin.ask(of_all) == admin.ask(asks));
  }
  BOOST_TEST(admin.ask({{"cmd", "capture"}, {"device", "all"}}).at("interfaces").size() == 2);
  admin.ask({{"cmd", "set"}, {"recovery", "gbn"}, {"device", "all"}});
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[1].at("recovery") == "gbn");
  // An address is one device's.
  const json address{{"cmd", "gid"}, {"device", "all"}, {"add", "2001:db8::7"}};
  BOOST_TEST(error(address) == "\"device\" must name the one device whose address is meant");
}

BOOST_AUTO_TEST_CASE(an_unknown_device_is_told_the_known_ones) {
  for (const char* cmd : {"link", "gid", "counters", "capture", "set"}) {
    BOOST_TEST(error({{"cmd", cmd}, {"device", "urnic9"}}) ==
               "there is no device \"urnic9\": known are urnic0, urnic1, all");
  }
}

BOOST_AUTO_TEST_CASE(recovery_is_a_setting_of_a_link_as_in_a_configuration) {
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  admin.ask(set_link({{"recovery", "gbn"}}));
  const json devices = admin.ask({{"cmd", "status"}}).at("devices");
  BOOST_TEST(devices[0].at("recovery") == "gbn");
  BOOST_TEST(devices[1].at("recovery") == "sack");
  BOOST_TEST(error(set_link({{"recovery", "luck"}, {"loss", 1}})).find("recovery = \"luck\": allowed is") ==
             0);
  BOOST_TEST(admin.ask({{"cmd", "link"}}).at("links").at("urnic0").at("tx").at("settings").at("loss") == 0);
}

BOOST_AUTO_TEST_CASE(a_cut_link_is_down_in_the_status_until_it_is_up) {
  admin.ask(set_link({{"state", "down"}}));
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[0].at("link") == "down");
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[1].at("link") == "up");
  admin.ask(set_link({{"state", "up"}}));
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[0].at("link") == "up");
}

BOOST_AUTO_TEST_CASE(programs_and_files_say_so_too) {
  SocketProgram program(process.node(0));
  const auto port_state = [&] {
    abi::QueryPortReply reply{};
    BOOST_REQUIRE(program.call(abi::ControlOpcode::query_port, abi::QueryPortRequest{1, 0}, reply) == 0);
    return reply.state;
  };
  const auto file = [&](const char* name) { return process.port_file(0, name); };
  BOOST_TEST(port_state() == unsigned{IBV_PORT_ACTIVE});
  BOOST_TEST(file("state") == "4: ACTIVE\n");
  admin.ask(set_link({{"state", "down"}}));
  BOOST_TEST(port_state() == unsigned{IBV_PORT_DOWN});
  BOOST_TEST(file("state") == "1: DOWN\n");
  BOOST_TEST(file("phys_state") == "2: Polling\n");
  admin.ask(set_link({{"state", "up"}}));
  BOOST_TEST(port_state() == unsigned{IBV_PORT_ACTIVE});
  BOOST_TEST(file("phys_state") == "5: LinkUp\n");
}

BOOST_AUTO_TEST_CASE(addresses_come_and_go) {
  const char* const fresh = "2001:db8::7";
  const json added = admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"add", fresh}});
  BOOST_TEST(added.at("gids").at("urnic0").at("2") == fresh);
  BOOST_TEST(process.port_file(0, "gids/2") == "2001:0db8:0000:0000:0000:0000:0000:0007\n");
  BOOST_TEST(process.port_file(0, "gid_attrs/types/2") == "RoCE v2\n");
  BOOST_TEST(
      error({{"cmd", "gid"}, {"device", "urnic1"}, {"add", fresh}}).find("a device's address already") !=
      std::string::npos);
  admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", "::ffff:192.0.2.1"}});
  BOOST_TEST(process.port_file(0, "gids/1") == "0000:0000:0000:0000:0000:0000:0000:0000\n");
  BOOST_TEST(process.port_file(0, "gid_attrs/types/1") == "");
  const json left = admin.ask({{"cmd", "gid"}}).at("gids");
  BOOST_TEST(!left.at("urnic0").contains("1"));
  BOOST_TEST(left.at("urnic0").at("2") == fresh);  // it keeps its index
  BOOST_TEST(left.at("urnic1").size() == 2);
  admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"add", "2001:db8::8"}});
  BOOST_TEST(admin.ask({{"cmd", "gid"}}).at("gids").at("urnic0").at("1") == "2001:db8::8");
}

BOOST_AUTO_TEST_CASE(an_address_may_belong_to_a_vlan) {
  const char* const fresh = "::ffff:203.0.113.7";
  const json request{{"cmd", "gid"}, {"device", "urnic0"}, {"add", fresh}, {"vlan", 5}};
  BOOST_TEST(admin.ask(request).at("vlans") == (json{{"urnic0", {{"2", 5}}}}));
  BOOST_TEST(admin.ask({{"cmd", "gid"}}).at("vlans") ==
             (json{{"urnic0", {{"2", 5}}}, {"urnic1", json::object()}}));
  admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", fresh}});
  const json again = admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"add", fresh}});
  BOOST_TEST(again.at("vlans") == (json{{"urnic0", json::object()}}));
  for (const json& wrong : {json(0), json(4095), json(-1), json("5"), json(5.5)}) {
    json asked = request;
    asked["vlan"] = wrong;
    asked["add"] = "2001:db8::7";
    BOOST_TEST(error(asked).find("1 to 4094") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_address_changes_nothing) {
  const json before = admin.ask({{"cmd", "gid"}});
  for (const char* wrong : {"::", "ff02::1", "192.0.2.1", "x"}) {
    BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"add", wrong}}).find("unicast") !=
               std::string::npos);
  }
  BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"add", 7}}).find("unicast") != std::string::npos);
  BOOST_TEST(error({{"cmd", "gid"}, {"add", "2001:db8::7"}}).find("device") != std::string::npos);
  BOOST_TEST(
      error({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", "2001:db8::7"}}).find("not its address") !=
      std::string::npos);
  BOOST_TEST(
      error({{"cmd", "gid"}, {"device", "urnic0"}, {"add", "2001:db8::7"}, {"remove", "::ffff:192.0.2.1"}})
          .find("two requests") != std::string::npos);
  BOOST_TEST(admin.ask({{"cmd", "gid"}}) == before);
}

BOOST_AUTO_TEST_CASE(the_gid_table_has_an_end_and_a_last_entry) {
  for (int i = 2; i < 16; ++i) {
    const std::string gid = "2001:db8::" + std::to_string(i);
    BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"add", gid}}) == "no error");
  }
  BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"add", "2001:db8::16"}}).find("all 16 places") ==
             0);
  const json all = admin.ask({{"cmd", "gid"}, {"device", "urnic0"}}).at("gids").at("urnic0");
  BOOST_TEST(all.size() == 16);
  for (int i = 15; i > 0; --i) {
    const json gid = all.at(std::to_string(i));
    BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", gid}}) == "no error");
  }
  BOOST_TEST(error({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", all.at("0")}}).find("only address") !=
             std::string::npos);
}

// A path that was made with an address goes on when the address goes; a new one cannot have it.
BOOST_AUTO_TEST_CASE(a_connection_keeps_the_address_that_it_has) {
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  admin.ask({{"cmd", "gid"}, {"device", "urnic0"}, {"remove", "::ffff:192.0.2.1"}});
  program.post_write(4096);
  BOOST_TEST(program.next_status() == IBV_WC_SUCCESS);
  SocketProgram late(process.node(0));
  BOOST_CHECK_THROW(late.make_loopback(memory.data(), memory.size()), std::exception);
}

BOOST_AUTO_TEST_CASE(a_delayed_transfer_arrives_and_is_counted) {
  admin.ask(set_link({{"delay_us", 200}}));
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  // On a slow machine a packet may have been sent again needlessly, and still be under way.
  json counters;
  for (int i = 0; i < 2000; ++i) {
    counters = admin.ask({{"cmd", "counters"}}).at("devices").at("urnic0");
    if (counters.at("link_rx_packets") == counters.at("link_tx_packets")) break;
    usleep(1000);
  }
  BOOST_TEST(counters.at("link_tx_packets").get<int>() >= 5);
  BOOST_TEST(counters.at("link_rx_packets") == counters.at("link_tx_packets"));
  BOOST_TEST(counters.at("link_tx_lost") == 0);
}

// The device waits for its line instead of dropping at a queue that is far too short for what it sends.
BOOST_AUTO_TEST_CASE(a_device_does_not_overrun_its_own_line) {
  admin.ask(set_link({{"rate_gbps", 0.5}, {"queue_packets", 40}}, "tx"));
  admin.ask({{"cmd", "set"}, {"recovery", "gbn"}});  // nothing is sent again because this machine is slow
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  for (int i = 0; i < 16; ++i) program.post_write(4096);
  for (int i = 0; i < 16; ++i) BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  const json counters = admin.ask({{"cmd", "counters"}}).at("devices").at("urnic0");
  BOOST_TEST(counters.at("link_tx_queue_full") == 0);
  BOOST_TEST(counters.at("retrans_pkts") == 0);
}

BOOST_AUTO_TEST_CASE(recovery_is_set_for_devices_and_queue_pairs) {
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  json answer = admin.ask({{"cmd", "set"}, {"recovery", "irn"}});
  BOOST_TEST(answer.at("queue_pairs") == 1);
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[1].at("recovery") == "irn");
  answer = admin.ask({{"cmd", "set"}, {"recovery", "sack"}, {"device", "urnic1"}});
  BOOST_TEST(answer.at("queue_pairs") == 0);
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[0].at("recovery") == "irn");
  BOOST_TEST(admin.ask({{"cmd", "status"}}).at("devices")[1].at("recovery") == "sack");
  BOOST_TEST(
      error({{"cmd", "set"}, {"recovery", "luck"}}).find("\"gbn\", \"selective\", \"irn\", \"sack\"") !=
      std::string::npos);
  BOOST_TEST(error({{"cmd", "set"}, {"recovery", "gbn"}, {"qp", 1}}) == "there is no QP 1");
}

BOOST_AUTO_TEST_CASE(a_plan_is_loaded_counts_and_is_cleared) {
  BOOST_TEST(plan("list").is_null());
  load(
      "[[fault]]\nname = \"a\"\ncount = 1\naction = \"drop\"\n[[fault]]\nname = \"b\"\nqp = 9999\naction = "
      "\"drop\"");
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  const json listed = plan("list");
  BOOST_TEST(listed.at("name") == "plan.toml");
  BOOST_TEST(listed.at("rules") == parse_json(R"([{"name":"a","matches":1},{"name":"b","matches":0}])"));
  BOOST_TEST(plan("clear") == listed);
  BOOST_TEST(plan("list").is_null());
  const json counters = admin.ask({{"cmd", "counters"}}).at("devices").at("urnic0");
  BOOST_TEST(counters.at("link_tx_fault_dropped") == 1);
}

BOOST_AUTO_TEST_CASE(a_fault_is_added_beside_a_plan_and_used_up) {
  SocketProgram program(process.node(0));
  program.make_loopback(memory.data(), memory.size());
  const auto add = [&](const std::string& text, const json& times) {
    return admin.ask({{"cmd", "fault"}, {"do", "add"}, {"name", "page"}, {"text", text}, {"times", times}});
  };
  const std::string drop = "[[fault]]\nname = \"once\"\ndevice = \"urnic0\"\naction = \"drop\"\n";
  BOOST_TEST(add(drop, 1).at("plan").at("rules") == parse_json(R"([{"name":"once","matches":0,"times":1}])"));
  program.post_write(4096);
  BOOST_REQUIRE(program.next_status() == IBV_WC_SUCCESS);
  BOOST_TEST(plan("list").at("rules") == parse_json(R"([{"name":"once","matches":1,"times":1}])"));
  load("[[fault]]\nname = \"a\"\nqp = 9999\naction = \"drop\"\n");
  add(drop, 2);
  BOOST_TEST(plan("list").at("name") == "plan.toml");
  BOOST_TEST(plan("list").at("rules") ==
             parse_json(R"([{"name":"a","matches":0},{"name":"once","matches":0,"times":2}])"));
  BOOST_TEST(add(drop, 0).at("error") == "times = 0: allowed is a whole number from 1");
  BOOST_TEST(add("[[fault]]\naction = \"burn\"\n", 1).at("error").get<std::string>().find("page:2") == 0);
}

BOOST_AUTO_TEST_CASE(a_wrong_plan_leaves_the_one_before) {
  load("[[fault]]\naction = \"drop\"\ncount = 1\nqp = 9999\n");
  const json wrong = load("[[fault]]\naction = \"burn\"\n");
  BOOST_TEST(wrong.at("error").get<std::string>().find("plan.toml:2: fault.action") == 0);
  BOOST_TEST(plan("list").at("number") == 1);
  // Somebody else's number does not end it.
  BOOST_TEST(admin.ask({{"cmd", "fault"}, {"do", "clear"}, {"number", 7}}).at("plan").is_null());
  BOOST_TEST(!plan("list").is_null());
}

BOOST_AUTO_TEST_CASE(a_configuration_brings_its_plan) {
  const TemporaryDirectory folder;
  std::ofstream(folder.path() / "lab.toml") << "faults = \"plan.toml\"\n";
  BOOST_CHECK_THROW(RunningProcess({}, load_configuration(folder.path() / "lab.toml")), ConfigurationError);
  std::ofstream(folder.path() / "plan.toml") << "[[fault]]\naction = \"drop\"\n";
  RunningProcess planned({}, load_configuration(folder.path() / "lab.toml"));
  AdminProgram other(planned);
  const json plan = other.ask({{"cmd", "fault"}, {"do", "list"}}).at("plan");
  BOOST_TEST(plan.at("name") == (folder.path() / "plan.toml").string());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
