// The admin socket's request for a port of the switch.
#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/socket_program.hpp"

namespace urnic::control::test {
namespace {

using nlohmann::json;

json station(const char* mac = "02:00:00:00:00:99", const char* gid = "::ffff:192.0.2.153") {
  return {{"cmd", "station"}, {"device", "urnic1"}, {"mac", mac}, {"gid", gid}};
}

// Other threads make it so: whether they have within ten seconds.
template <class Condition>
bool soon(Condition is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    sched_yield();
  }
  return true;
}

struct WithProcess {
  RunningProcess process;

  std::string error(AdminProgram& admin, const json& request) {
    return admin.ask(request).value("error", "none");
  }
};

constexpr const char* kInfiniband =
    "subnet_manager = \"built_in\"\n[fabric]\n[[fabric.switches]]\nname = \"hub\"\nports = 4\n"
    "[[fabric.hosts]]\nname = \"spare\"\n[[devices]]\nlink_layer = \"infiniband\"\n[[devices]]\nlink_layer = "
    "\"infiniband\"\n";

// Of InfiniBand devices at a switch with a host and one free port.
struct InSubnet {
  RunningProcess process{{}, parse_configuration(kInfiniband, "lab.toml")};

  static json at(const char* host) { return {{"cmd", "station"}, {"device", "urnic1"}, {"host", host}}; }
  std::string error(AdminProgram& admin, const json& request) {
    return admin.ask(request).value("error", "none");
  }
  json stations(AdminProgram& admin) { return admin.ask({{"cmd", "subnet"}}).at("subnet").at("stations"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(station_in_subnet, InSubnet)

BOOST_AUTO_TEST_CASE(a_host_is_added_and_the_manager_brings_it_up) {
  AdminProgram admin(process);
  BOOST_TEST(stations(admin).empty());
  const json answer = admin.ask(at("script"));
  BOOST_TEST(answer.value("error", "") == "");
  BOOST_TEST(answer.at("host") == "script");
  BOOST_REQUIRE(admin.descriptors.size() == 1u);
  BOOST_REQUIRE(soon([&] { return stations(admin).at(0).at("state") == "active"; }));
  const json station = stations(admin).at(0);
  BOOST_TEST(station.at("host") == "script");
  BOOST_TEST(station.at("lid") != 0);
  BOOST_TEST(station.at("gid") == "fe80::75:72ff:fe80:1");
}

BOOST_AUTO_TEST_CASE(the_host_stays_and_has_its_lid_for_the_next_one) {
  AdminProgram second(process);
  json before;
  {
    AdminProgram first(process);
    BOOST_TEST(error(first, at("script")) == "none");
    BOOST_REQUIRE(soon([&] { return stations(first).at(0).at("state") == "active"; }));
    before = stations(first);
    BOOST_TEST(error(first, at("script")) == "this connection has a station already");
    BOOST_TEST(error(second, at("script")).find("another script is the host script") == 0u);
  }
  BOOST_REQUIRE(soon([&] { return error(second, at("script")) == "none"; }));
  BOOST_TEST(stations(second) == before);
}

BOOST_AUTO_TEST_CASE(a_host_of_the_configuration_needs_no_free_port) {
  AdminProgram admin(process);
  BOOST_TEST(error(admin, at("spare")) == "none");
  BOOST_TEST(stations(admin).at(0).at("host") == "spare");
  BOOST_TEST(stations(admin).at(0).at("state") == "active");
  AdminProgram one(process);
  BOOST_TEST(error(one, at("script")) == "none");
  AdminProgram other(process);
  BOOST_TEST(
      error(other, at("more")).find("no switch of the InfiniBand fabric has a free port for the host more") ==
      0u);
}

BOOST_AUTO_TEST_CASE(other_names_are_refused) {
  AdminProgram admin(process);
  BOOST_TEST(error(admin, at("hub")).find("hub is a switch of the InfiniBand fabric") == 0u);
  BOOST_TEST(error(admin, at("urnic0")).find("urnic0 is a device of the InfiniBand fabric") == 0u);
  for (const char* const name : {"", "a:b", "caf\xC3\xA9"})
    BOOST_TEST(error(admin, at(name)).find("\"host\" must be") == 0u, name);
  BOOST_TEST(error(admin, {{"cmd", "station"}}).find("\"host\" must be") == 0u);
  BOOST_TEST(stations(admin).empty());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(station_command, WithProcess)

BOOST_AUTO_TEST_CASE(a_station_gets_a_socket_and_the_device_s_addresses) {
  AdminProgram admin(process);
  const json answer = admin.ask(station());
  BOOST_TEST(answer.value("error", "") == "");
  BOOST_TEST(answer.at("device") == "urnic1");
  const json status = admin.ask({{"cmd", "status"}}).at("devices").at(1);
  BOOST_TEST(answer.at("mac") == status.at("mac"));
  BOOST_TEST(answer.at("gids") == status.at("gids"));
  BOOST_REQUIRE(admin.descriptors.size() == 1u);
  int type = 0;
  socklen_t length = sizeof type;
  getsockopt(admin.descriptors[0].get(), SOL_SOCKET, SO_TYPE, &type, &length);
  BOOST_TEST(type == SOCK_SEQPACKET);
}

BOOST_AUTO_TEST_CASE(addresses_must_be_somebody_s_own) {
  AdminProgram admin(process);
  const json device = admin.ask({{"cmd", "status"}}).at("devices").at(0);
  const std::string mac = device.at("mac");
  const std::string gid = device.at("gids").at(1);
  BOOST_TEST(error(admin, station("nonsense")).find("\"mac\" must be") == 0u);
  BOOST_TEST(error(admin, station("03:00:00:00:00:99")).find("\"mac\" must be") == 0u);
  BOOST_TEST(error(admin, station("02:00:00:00:00:99", "::")).find("\"gid\" must be") == 0u);
  BOOST_TEST(error(admin, station("02:00:00:00:00:99", "ff02::1")).find("\"gid\" must be") == 0u);
  BOOST_TEST(error(admin, {{"cmd", "station"}}).find("\"mac\" must be") == 0u);
  BOOST_TEST(error(admin, station("02:00:00:00:00:99", gid.c_str())).find("GID is another one's") !=
             std::string::npos);
  BOOST_TEST(error(admin, station(mac.c_str())).find("another port of the switch") == 0u);
  json request = station();
  request["device"] = "urnic7";
  BOOST_TEST(error(admin, request).find("there is no device \"urnic7\"") == 0u);
  // What was refused has left nothing behind.
  BOOST_TEST(error(admin, station()) == "none");
}

BOOST_AUTO_TEST_CASE(a_station_goes_with_its_connection) {
  AdminProgram second(process);
  {
    AdminProgram first(process);
    BOOST_TEST(error(first, station()) == "none");
    BOOST_TEST(error(first, station("02:00:00:00:00:98", "::ffff:192.0.2.152")).find("a station already") !=
               std::string::npos);
    BOOST_TEST(error(second, station()).find("GID is another one's") != std::string::npos);
  }
  BOOST_REQUIRE(soon([&] { return error(second, station()) == "none"; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
