// The devices' own interfaces as the kernel tells of them: which GIDs a device has, and whose they are.
#include "device_model/control/fabric/interface_watch.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "device_model/control/network/route_request.hpp"

#ifndef IFF_LOWER_UP
#define IFF_LOWER_UP 0x10000
#endif

namespace urnic::control::test {

namespace {

constexpr std::uint32_t kFirst = 5;  // the index of the first device's interface
constexpr std::uint32_t kVlan5 = 17;
constexpr const char* kAddress = "203.0.113.1";

wire::Gid gid(const std::string& text) { return parse_ip_address(text).value(); }

std::span<const std::byte> text_bytes(const char* text) {
  return std::as_bytes(std::span(text, std::strlen(text) + 1));
}

// Two devices with interfaces, and a test that speaks for the kernel.
struct Watching {
  Watching() {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    kernel = memory::Descriptor(ends[0]);
    for (const auto& each : fabric.devices())
      each->interface = link::LocalInterface{each->settings.name, kFirst + each->index, 4217};
    first_gids = device.settings.gids;
    watch.emplace(loop, fabric,
                  InterfaceWatch::Changes{
                      .link = [](const ServedDevice&) {},
                      .gid = [this](const ServedDevice&, std::size_t index) { changed.push_back(index); },
                      .own = [this](const std::vector<InterfaceState>& now) { own = now; }},
                  memory::Descriptor(ends[1]));
    for (const auto& each : fabric.devices()) link(each->interface->index, each->settings.name.c_str());
    done();
    for (const auto& each : fabric.devices())
      for (const wire::Gid& address : each->settings.gids)
        tell_address(RTM_NEWADDR, address, each->interface->index);
    done();
    run();
  }

  void tell(const RouteRequest& message) {
    const auto bytes = message.bytes();
    BOOST_REQUIRE(write(kernel.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  }
  void done() { tell(RouteRequest(NLMSG_DONE, 0, int{})); }
  static ifinfomsg up(std::uint32_t index) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(index);
    header.ifi_flags = IFF_UP | IFF_LOWER_UP;
    return header;
  }
  void link(std::uint32_t index, const char* name) {
    RouteRequest message(RTM_NEWLINK, 0, up(index));
    tell(message.add(IFLA_IFNAME, text_bytes(name)).add(IFLA_MTU, 4217u));
  }
  void vlan_link(std::uint32_t index, const char* name, std::uint32_t base, std::uint16_t vlan,
                 std::uint16_t protocol = ETH_P_8021Q) {
    const std::uint16_t type = htons(protocol);
    RouteRequest message(RTM_NEWLINK, 0, up(index));
    message.add(IFLA_IFNAME, text_bytes(name)).add(IFLA_LINK, base);
    const auto info = message.begin(IFLA_LINKINFO);
    message.add(IFLA_INFO_KIND, text_bytes("vlan"));
    const auto data = message.begin(IFLA_INFO_DATA);
    message.add(IFLA_VLAN_PROTOCOL, std::as_bytes(std::span(&type, 1)));
    message.add(IFLA_VLAN_ID, std::as_bytes(std::span(&vlan, 1)));
    message.end(data);
    message.end(info);
    tell(message);
  }
  void no_link(std::uint32_t index, std::uint8_t family = AF_UNSPEC) {
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_index = static_cast<int>(index);
    tell(RouteRequest(RTM_DELLINK, 0, header));
  }
  void tell_address(std::uint16_t type, const wire::Gid& address, std::uint32_t index) {
    ifaddrmsg header{};
    header.ifa_index = index;
    tell(RouteRequest(type, 0, header).add(IFA_LOCAL, address));
  }
  void add(const std::string& address, std::uint32_t index) {
    tell_address(RTM_NEWADDR, gid(address), index);
  }
  void remove(const std::string& address, std::uint32_t index) {
    tell_address(RTM_DELADDR, gid(address), index);
  }
  // Until all messages have been read: the loop takes them in their order, and the last one is a timer.
  void run() {
    Timer end(loop, [this] { loop.stop(); });
    end.set(std::chrono::milliseconds(20));
    loop.run();
  }

  std::string interface_at(std::size_t place) const { return interface_of(device, place)->name; }
  std::size_t place_of(const std::string& address) const {
    const auto& gids = device.settings.gids;
    return static_cast<std::size_t>(std::find(gids.begin(), gids.end(), gid(address)) - gids.begin());
  }
  bool has(const std::string& address) const { return place_of(address) != device.settings.gids.size(); }

  EventLoop loop;
  Fabric fabric{default_configuration()};
  ServedDevice& device = *fabric.devices()[0];
  memory::Descriptor kernel;
  std::vector<wire::Gid> first_gids;
  std::vector<std::size_t> changed;
  std::vector<InterfaceState> own;
  std::optional<InterfaceWatch> watch;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(interface_watch, Watching)

BOOST_AUTO_TEST_CASE(an_address_of_the_interface_is_a_gid) {
  BOOST_TEST(changed.empty());
  add("10.1.2.3", kFirst);
  run();
  BOOST_TEST(place_of("10.1.2.3") == first_gids.size());
  BOOST_TEST(interface_at(first_gids.size()) == device.settings.name);
  BOOST_TEST(own.at(0).addresses.size() == first_gids.size() + 1);
  remove("10.1.2.3", kFirst);
  run();
  BOOST_TEST(!has("10.1.2.3"));
  BOOST_TEST(changed == std::vector(2, first_gids.size()), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_address_of_a_vlan_is_a_gid_of_that_interface) {
  vlan_link(kVlan5, "urnic0.5", kFirst, 5);
  add(kAddress, kVlan5);
  run();
  const std::size_t place = place_of(kAddress);
  BOOST_TEST(place == first_gids.size());
  BOOST_TEST(interface_at(place) == "urnic0.5");
  BOOST_TEST(interface_of(device, place)->index == kVlan5);
  BOOST_TEST(vlan_of(device, place) == 5);
  BOOST_TEST(interface_at(0) == device.settings.name);
  // Ways between the devices' own interfaces are none of it.
  BOOST_TEST((own.at(0).addresses == first_gids));
  BOOST_TEST((fabric.devices()[1]->settings.gids.size() == first_gids.size()));
}

BOOST_AUTO_TEST_CASE(a_vlan_that_goes_takes_its_gids) {
  vlan_link(kVlan5, "urnic0.5", kFirst, 5);
  add(kAddress, kVlan5);
  no_link(kVlan5, AF_BRIDGE);
  run();
  BOOST_TEST(has(kAddress));
  no_link(kVlan5);
  run();
  BOOST_TEST(!has(kAddress));
  BOOST_TEST(device.settings.vlans.empty());
  BOOST_TEST(changed == std::vector(2, first_gids.size()), boost::test_tools::per_element());
  // The place is free for the next one.
  add("10.1.2.3", kFirst);
  run();
  BOOST_TEST(place_of("10.1.2.3") == first_gids.size());
}

BOOST_AUTO_TEST_CASE(its_address_may_go_while_it_stays) {
  vlan_link(kVlan5, "urnic0.5", kFirst, 5);
  add(kAddress, kVlan5);
  remove(kAddress, kVlan5);
  run();
  BOOST_TEST(!has(kAddress));
  BOOST_TEST(device.settings.vlans.empty());
}

BOOST_AUTO_TEST_CASE(its_link_local_address_is_that_of_the_interface_below) {
  const std::string link_local = to_text(first_gids.front());
  vlan_link(kVlan5, "urnic0.5", kFirst, 5);
  add(link_local, kVlan5);
  add(link_local, kFirst);
  run();
  BOOST_TEST(interface_at(0) == device.settings.name);
  remove(link_local, kVlan5);
  run();
  BOOST_TEST(place_of(link_local) == 0u);
  BOOST_TEST(changed.empty());

  add(link_local, kVlan5);
  remove(link_local, kFirst);
  run();
  BOOST_TEST(place_of(link_local) == 0u);
  BOOST_TEST(interface_at(0) == "urnic0.5");
  BOOST_TEST(changed == std::vector<std::size_t>{0}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_new_name_is_shown) {
  vlan_link(kVlan5, "urnic0.5", kFirst, 5);
  add(kAddress, kVlan5);
  vlan_link(kVlan5, "storage", kFirst, 5);
  run();
  BOOST_TEST(interface_at(place_of(kAddress)) == "storage");
  BOOST_TEST(changed.size() == 2u);
}

BOOST_AUTO_TEST_CASE(what_is_no_vlan_of_a_device_has_no_gids) {
  link(30, "dummy0");
  vlan_link(31, "dummy0.5", 30, 5);
  vlan_link(32, "urnic0.7", kFirst, 7, ETH_P_8021AD);
  for (const std::uint32_t index : {30u, 31u, 32u}) add("10.0.0." + std::to_string(index), index);
  run();
  BOOST_TEST((device.settings.gids == first_gids));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
