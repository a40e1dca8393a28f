// Devices with network interfaces: by which device an address is reached is what the routes of their network
// say.
#include <map>

#include "device_model/control/fabric/host_routes.hpp"
#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

wire::Gid gid(const std::string& text) { return control::parse_ip_address(text).value(); }

constexpr std::uint32_t kFirstIndex = 5;  // urnic0's

// Two devices with interfaces, and routes that a test makes. What has none is unreachable.
struct WithInterfaces : World {
  WithInterfaces() {
    for (const auto& device : fabric.devices())
      device->interface = link::LocalInterface{device->settings.name, kFirstIndex + device->index, 4217};
    fabric.ask_routes(
        [this](const wire::Gid& destination, std::uint32_t interface) {
          asked_by = interface;
          ++questions;
          const auto found = routes.find(destination);
          return found != routes.end() ? found->second : HostRoute{.error = ENETUNREACH};
        },
        [this](const wire::Gid& address, std::uint32_t interface) {
          neighbours.emplace_back(control::to_text(address), interface);
          return search_error;
        });
  }

  void add(const std::string& to, std::uint32_t interface, const std::string& from) {
    routes[gid(to)] = {.interface = interface, .source = gid(from)};
  }

  // Of an identifier that is not bound; "" if it is not resolved at once. Its number is `last`.
  std::string way(const std::string& to) {
    last = program.create();
    BOOST_TEST(program.resolve(last, address(to, 7000)) == 0);
    if (program.tokens == 0) return "";
    program.expect(EventType::address_resolved, last);
    const rdma_ucm_query_addr_resp answer = program.query_address(last);
    for (const auto& device : fabric.devices()) {
      if (std::memcmp(&answer.node_guid, device->node_guid.data(), sizeof answer.node_guid) == 0)
        return device->settings.name + " " +
               control::to_text(read_address(std::as_bytes(std::span(&answer.src_addr, 1))).ip);
    }
    return "no device";
  }

  std::map<wire::Gid, HostRoute> routes;
  std::vector<std::pair<std::string, std::uint32_t>> neighbours;  // that were looked for
  int search_error = 0;
  std::uint32_t asked_by = 0;
  std::uint32_t questions = 0;
  std::uint32_t last = 0;
  Program program{*this};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(routes, WithInterfaces)

BOOST_AUTO_TEST_CASE(a_route_says_which_device_and_which_of_its_addresses) {
  fabric.devices()[1]->settings.gids.push_back(gid("10.0.0.2"));
  add("192.0.2.1", kFirstIndex + 1, "192.0.2.2");
  BOOST_TEST(way("192.0.2.1") == "urnic1 ::ffff:192.0.2.2");
  add("192.0.2.1", kFirstIndex + 1, "10.0.0.2");
  BOOST_TEST(way("192.0.2.1") == "urnic1 ::ffff:10.0.0.2");
  add("192.0.2.2", kFirstIndex, "192.0.2.1");
  BOOST_TEST(way("192.0.2.2") == "urnic0 ::ffff:192.0.2.1");
}

BOOST_AUTO_TEST_CASE(a_local_destination_is_its_devices) {
  routes[gid("192.0.2.2")] = {.is_local = true, .interface = 1, .source = gid("192.0.2.2")};
  BOOST_TEST(way("192.0.2.2") == "urnic1 ::ffff:192.0.2.2");
}

BOOST_AUTO_TEST_CASE(no_route_is_an_error_at_once) {
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("198.51.100.1", 7000)) == ENETUNREACH);
  program.expect_nothing();
  routes[gid("198.51.100.1")] = {.error = EACCES};
  BOOST_TEST(program.resolve(id, address("198.51.100.1", 7000)) == EACCES);
  // The identifier is bound, and can try once more.
  add("192.0.2.2", kFirstIndex, "192.0.2.1");
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000)) == 0);
  program.expect(EventType::address_resolved, id);
}

// Linux's rdma_resolve_ip asks for the route during the call.
BOOST_AUTO_TEST_CASE(a_blackhole_is_an_error_at_once) {
  routes[gid("192.0.2.1")] = {.error = EINVAL};
  for (const auto space : {RDMA_PS_TCP, RDMA_PS_IPOIB}) {
    const std::uint32_t id = program.create(space);
    BOOST_TEST(program.resolve(id, address("192.0.2.1", 7000)) == EINVAL);
    program.expect_nothing();
  }
}

BOOST_AUTO_TEST_CASE(a_route_by_no_device_is_an_event) {
  add("198.51.100.1", 77, "10.0.2.100");
  add("198.51.100.2", kFirstIndex, "192.0.2.2");  // the other device's address
  routes[gid("198.51.100.3")] = {.is_local = true, .interface = 1, .source = gid("198.51.100.3")};
  for (const std::string to : {"198.51.100.1", "198.51.100.2", "198.51.100.3"}) {
    const std::uint32_t id = program.create();
    BOOST_TEST(program.resolve(id, address(to, 7000)) == 0);
    program.expect(EventType::address_error, id, -ENODEV);
  }
}

BOOST_AUTO_TEST_CASE(nobody_behind_the_route_is_looked_for) {
  add("192.0.2.77", kFirstIndex, "192.0.2.1");
  BOOST_TEST(way("192.0.2.77") == "");
  pass(3s);
  program.expect(EventType::address_error, last, -ETIMEDOUT);
}

// Many may wait, and each is looked for again and again.
BOOST_AUTO_TEST_CASE(the_route_is_asked_for_again_once_somebody_has_the_address) {
  add("192.0.2.77", kFirstIndex, "192.0.2.1");
  BOOST_TEST(way("192.0.2.77") == "");
  pass(10ms);
  pass(10ms);
  program.expect_nothing();
  BOOST_TEST(questions == 1u);
  fabric.devices()[1]->settings.gids.push_back(gid("192.0.2.77"));
  pass(10ms);
  program.expect(EventType::address_resolved, last);
  BOOST_TEST(questions == 2u);
  BOOST_TEST(rdma_cm.resolutions().empty());
}

BOOST_AUTO_TEST_CASE(a_route_may_go_meanwhile) {
  add("192.0.2.77", kFirstIndex, "192.0.2.1");
  BOOST_TEST(way("192.0.2.77") == "");
  routes.clear();
  fabric.devices()[1]->settings.gids.push_back(gid("192.0.2.77"));
  pass(10ms);
  program.expect(EventType::address_error, last, -ENETUNREACH);
  BOOST_TEST(rdma_cm.resolutions().empty());
}

BOOST_AUTO_TEST_CASE(what_has_no_route_of_the_network) {
  BOOST_TEST(way("127.0.0.2") == "urnic1 ::ffff:127.0.0.2");
  BOOST_TEST(way("239.1.2.3") == "urnic0 ::ffff:192.0.2.1");
  add("239.1.2.3", kFirstIndex + 1, "192.0.2.2");
  BOOST_TEST(way("239.1.2.3") == "urnic1 ::ffff:192.0.2.2");
}

BOOST_AUTO_TEST_CASE(a_link_local_destination_may_name_an_interface) {
  const std::string to = control::to_text(fabric.devices()[1]->settings.gids.front());
  const std::string from = control::to_text(fabric.devices()[0]->settings.gids.front());
  BOOST_TEST(way(to) == "urnic1 " + to);
  add(to, kFirstIndex, from);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address(to, 7000, kFirstIndex)) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(asked_by == kFirstIndex);
  const rdma_ucm_query_addr_resp answer = program.query_address(id);
  const SocketAddress source = read_address(std::as_bytes(std::span(&answer.src_addr, 1)));
  BOOST_TEST(control::to_text(source.ip) == from);
  BOOST_TEST(source.scope == kFirstIndex);
}

BOOST_AUTO_TEST_CASE(a_source_that_is_bound_needs_no_route) {
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1")) == 0);
  program.expect(EventType::address_resolved, id);
}

// As Linux's kernel, whose neighbour table has the peer then; also where it must not be changed.
BOOST_AUTO_TEST_CASE(the_host_looks_for_who_is_resolved) {
  add("192.0.2.1", kFirstIndex + 1, "192.0.2.2");
  for (const int error : {0, EPERM}) {
    search_error = error;
    neighbours.clear();
    way("192.0.2.1");
    BOOST_REQUIRE(neighbours.size() == 1u);
    BOOST_TEST(neighbours.front().first == "::ffff:192.0.2.1");
    BOOST_TEST(neighbours.front().second == kFirstIndex + 1);
  }
  neighbours.clear();
  const std::uint32_t id = program.create();
  BOOST_TEST(program.resolve(id, address("192.0.2.2", 7000), address("192.0.2.1")) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_REQUIRE(neighbours.size() == 1u);
  BOOST_TEST(neighbours.front().second == kFirstIndex);
}

BOOST_AUTO_TEST_CASE(the_host_looks_for_nobody_else) {
  way("127.0.0.2");  // itself
  way("239.1.2.3");  // a group
  routes[gid("192.0.2.2")] = {.is_local = true, .interface = 1, .source = gid("192.0.2.2")};
  way("192.0.2.2");
  add("192.0.2.77", kFirstIndex, "192.0.2.1");
  way("192.0.2.77");  // nobody has it
  BOOST_TEST(neighbours.empty());
}

// Its device is in the host's network: the tables know it.
BOOST_AUTO_TEST_CASE(a_device_without_an_interface_is_found_by_its_address) {
  fabric.devices()[1]->interface.reset();
  BOOST_TEST(way("192.0.2.2") == "urnic1 ::ffff:192.0.2.2");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(the_kernel_is_asked) {
  const HostRoutes kernel;
  const HostRoute local = kernel.find(gid("127.0.0.1"), 0);
  BOOST_TEST(local.error == 0);
  BOOST_TEST(local.is_local);
  BOOST_TEST(local.interface == 1u);
  BOOST_TEST(control::to_text(local.source) == "::ffff:127.0.0.1");
  BOOST_TEST(kernel.find(gid("127.0.0.1"), 0x7FFFFFFF).error == ENODEV);
  const int refused = kernel.look_for_neighbour(gid("192.0.2.1"), 0x7FFFFFFF);
  BOOST_TEST((refused == ENODEV || refused == EPERM));
}

}  // namespace urnic::control::rdma_cm::test
