// The admin socket's request for a port of the switch.
#include <boost/test/unit_test.hpp>
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

struct WithProcess {
  RunningProcess process;

  std::string error(AdminProgram& admin, const json& request) {
    return admin.ask(request).value("error", "none");
  }
};

}  // namespace

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
  while (error(second, station()) != "none") sched_yield();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
