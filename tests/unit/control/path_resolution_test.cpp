#include "device_model/control/uverbs/path_resolution.hpp"

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/fabric/udp_source_port.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/static_rate.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"

namespace urnic::control {
namespace {

struct TwoDevices {
  Fabric fabric{default_configuration()};
  const ServedDevice& first = *fabric.devices()[0];
  const ServedDevice& second = *fabric.devices()[1];

  abi::AddressVector to_second(std::size_t gid_index) const {
    abi::AddressVector address{};
    address.is_global = 1;
    address.port = 1;
    address.source_gid_index = static_cast<std::uint8_t>(gid_index);
    const wire::Gid& gid = second.settings.gids[gid_index];
    std::copy(gid.bytes.begin(), gid.bytes.end(), address.destination_gid);
    return address;
  }
  int resolve(const abi::AddressVector& address) {
    return resolve_path(fabric, first, address, wire::Qpn{17}, wire::Qpn{42}, path);
  }
  wire::NetworkHeaders path;
};

BOOST_FIXTURE_TEST_SUITE(path_resolution, TwoDevices)

BOOST_AUTO_TEST_CASE(a_path_has_both_ends_addresses) {
  abi::AddressVector address = to_second(1);
  address.traffic_class = 0x68;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST((path.source_mac == first.settings.mac));
  BOOST_TEST((path.destination_mac == second.settings.mac));
  BOOST_TEST((path.source == first.settings.gids[1]));
  BOOST_TEST((path.destination == second.settings.gids[1]));
  BOOST_TEST(path.traffic_class == 0x68);
  BOOST_TEST(wire::uses_ipv4(path));
  BOOST_REQUIRE(resolve(to_second(0)) == 0);
  BOOST_TEST(!wire::uses_ipv4(path));
}

// As the kernel's ib_resolve_eth_dmac: the route's hop limit replaces the program's, but for groups.
BOOST_AUTO_TEST_CASE(the_hop_limit_is_the_routes_unless_a_group_is_sent_to) {
  for (const unsigned wanted : {0u, 1u, 3u, 64u, 255u}) {
    for (const std::size_t gid_index : {0u, 1u}) {
      abi::AddressVector address = to_second(gid_index);
      address.hop_limit = static_cast<std::uint8_t>(wanted);
      BOOST_REQUIRE(resolve(address) == 0);
      BOOST_TEST(path.hop_limit == 64);
      BOOST_REQUIRE(resolve_address(fabric, first, address, path) == 0);
      BOOST_TEST(path.hop_limit == 64);
    }
    abi::AddressVector group = to_second(0);
    group.hop_limit = static_cast<std::uint8_t>(wanted);
    group.destination_gid[0] = 0xFF;
    group.destination_gid[1] = 0x0E;
    BOOST_REQUIRE(resolve_address(fabric, first, group, path) == 0);
    BOOST_TEST(path.hop_limit == (wanted != 0 ? wanted : 64));  // IP sends no packet with 0
  }
}

BOOST_AUTO_TEST_CASE(datagrams_may_go_to_a_group) {
  const auto to_group = [&](std::size_t gid_index, const std::array<std::uint8_t, 16>& group) {
    abi::AddressVector address = to_second(gid_index);
    std::copy(group.begin(), group.end(), address.destination_gid);
    BOOST_TEST(resolve(address) == EINVAL);  // a connection may not
    return resolve_address(fabric, first, address, path);
  };
  const std::array<std::uint8_t, 16> ipv6{0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4};
  const std::array<std::uint8_t, 16> ipv4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 0x85, 6, 7};
  BOOST_REQUIRE(to_group(0, ipv6) == 0);
  BOOST_TEST((path.destination_mac == wire::MacAddress{{0x33, 0x33, 1, 2, 3, 4}}));
  BOOST_REQUIRE(to_group(1, ipv6) == 0);
  BOOST_TEST(!wire::uses_ipv4(path));
  BOOST_REQUIRE(to_group(1, ipv4) == 0);
  BOOST_TEST((path.destination_mac == wire::MacAddress{{0x01, 0x00, 0x5E, 0x05, 6, 7}}));
  BOOST_TEST(wire::uses_ipv4(path));
  BOOST_TEST(to_group(0, ipv4) == EINVAL);
}

// Linux: the VLAN of the GID's interface, and for the priority the service level (mlx5_set_path).
BOOST_AUTO_TEST_CASE(the_tag_is_the_vlan_of_the_source_and_the_service_level) {
  for (const auto& device : fabric.devices()) device->settings.vlans[1] = 5;
  abi::AddressVector address = to_second(1);
  address.service_level = 3;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST(path.vlan_tag == (3u << 13 | 5u));
  address.service_level = 15;  // only the lower three bits
  BOOST_REQUIRE(resolve_address(fabric, first, address, path) == 0);
  BOOST_TEST(path.vlan_tag == (7u << 13 | 5u));
  address = to_second(0);
  address.service_level = 3;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST(path.vlan_tag == 0);
}

// As when nobody answers in a VLAN.
BOOST_AUTO_TEST_CASE(a_gid_of_another_vlan_is_not_reached) {
  ServedDevice& peer = *fabric.devices()[1];
  peer.settings.vlans[1] = 5;
  BOOST_TEST(resolve(to_second(1)) == ETIMEDOUT);
  fabric.devices()[0]->settings.vlans[1] = 6;
  BOOST_TEST(resolve(to_second(1)) == ETIMEDOUT);
  BOOST_TEST(resolve_address(fabric, first, to_second(1), path) == ETIMEDOUT);
  peer.settings.vlans.clear();
  BOOST_TEST(resolve(to_second(1)) == ETIMEDOUT);
  BOOST_TEST(resolve(to_second(0)) == 0);
}

BOOST_AUTO_TEST_CASE(a_device_reaches_itself) {
  abi::AddressVector address = to_second(1);
  const wire::Gid& own = first.settings.gids[1];
  std::copy(own.bytes.begin(), own.bytes.end(), address.destination_gid);
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST((path.destination_mac == first.settings.mac));
}

BOOST_AUTO_TEST_CASE(roce_needs_a_grh_and_this_port) {
  abi::AddressVector address = to_second(1);
  address.is_global = 0;
  BOOST_TEST(resolve(address) == EINVAL);
  address = to_second(1);
  address.port = 2;
  BOOST_TEST(resolve(address) == EINVAL);
}

BOOST_AUTO_TEST_CASE(the_source_gid_must_be_there) {
  abi::AddressVector address = to_second(1);
  for (const auto& [index, error] : std::vector<std::pair<int, int>>{{2, ENODATA},
                                                                     {limits::kGidTableLength - 1, ENODATA},
                                                                     {limits::kGidTableLength, EINVAL},
                                                                     {255, EINVAL}}) {
    address.source_gid_index = static_cast<std::uint8_t>(index);
    BOOST_TEST(resolve(address) == error, index);
    BOOST_TEST(resolve_address(fabric, first, address, path) == error, index);
  }
}

BOOST_AUTO_TEST_CASE(address_families_do_not_mix) {
  abi::AddressVector address = to_second(1);
  address.source_gid_index = 0;
  BOOST_TEST(resolve(address) == EINVAL);
}

BOOST_AUTO_TEST_CASE(nobody_with_that_address_is_a_timeout) {
  abi::AddressVector address = to_second(1);
  address.destination_gid[15] = 99;
  BOOST_TEST(resolve(address) == ETIMEDOUT);
  address.destination_gid[0] = 0xFF;
  BOOST_TEST(resolve(address) == EINVAL);  // a connection to a multicast group
}

BOOST_AUTO_TEST_CASE(a_path_to_a_neighbour_may_have_to_wait) {
  struct Lan final : link::Neighbours {
    link::Neighbour find_in(std::uint16_t, const wire::Gid&) override { return neighbour; }
    link::Neighbour neighbour;
  } lan;
  fabric.add_neighbours(lan);
  abi::AddressVector address = to_second(1);
  address.destination_gid[15] = 77;
  BOOST_TEST(resolve(address) == ETIMEDOUT);
  lan.neighbour.state = link::Neighbour::State::asked;
  BOOST_TEST(resolve(address) == kNotYet);
  lan.neighbour = {link::Neighbour::State::known, {{2, 3, 4, 5, 6, 7}}};
  BOOST_TEST(resolve(address) == 0);
  BOOST_TEST((path.destination_mac == lan.neighbour.mac));
}

// Values of the kernel's rdma_get_udp_sport.
BOOST_AUTO_TEST_CASE(udp_source_port_is_the_kernels) {
  BOOST_TEST(udp_source_port(0, wire::Qpn{17}, wire::Qpn{42}) == 0xC000 + 17 * 42);
  BOOST_TEST(udp_source_port(0, wire::Qpn{42}, wire::Qpn{17}) == 0xC000 + 17 * 42);  // both ways the same
  BOOST_TEST(udp_source_port(1, wire::Qpn{17}, wire::Qpn{42}) == 0xC001);
  BOOST_TEST(udp_source_port(0x4000, wire::Qpn{17}, wire::Qpn{42}) == 0xC001);
  BOOST_TEST(udp_source_port(0xFFFFF, wire::Qpn{17}, wire::Qpn{42}) == (0xC000 | (0x3FFF ^ 0x3F)));
  BOOST_TEST(udp_source_port(0xFFF00000, wire::Qpn{1}, wire::Qpn{1}) == 0xC001);  // 20 bits count
  // 0xFFFFFF * 0xFFFFFF = 0xFFFFFE000001; folded by 20 and 40 bits, then 20 bits into 14.
  const std::uint64_t product = 0xFFFFFE000001;
  const std::uint64_t once = product ^ (product >> 20);
  const auto label = static_cast<std::uint32_t>((once ^ (once >> 40)) & 0xFFFFF);
  BOOST_TEST(udp_source_port(0, wire::Qpn{0xFFFFFF}, wire::Qpn{0xFFFFFF}) ==
             (0xC000 | ((label & 0x3FFF) ^ (label >> 14))));
}

BOOST_AUTO_TEST_SUITE_END()

// Device 0 with LID 8 and three more, as its LMC says.
struct InfinibandPort {
  InfinibandPort() {
    subnet::Network& network = fabric.subnet();
    wire::mad::PortInfo info = network.port(*device.adapter);
    info.lid = {8};
    info.lmc = 2;
    info.state = wire::mad::PortState::no_change;
    info.physical_state = wire::mad::PhysicalState::no_change;
    wire::mad::Smp smp;
    smp.header.management_class = wire::mad::ManagementClass::subnet_lid_routed;
    smp.header.class_version = 1;
    smp.header.method = wire::mad::Method::set;
    smp.header.attribute.value = static_cast<std::uint16_t>(wire::mad::SubnetAttribute::port_info);
    smp.header.attribute_modifier = 1;
    smp.data = wire::mad::encode_data(info);
    subnet::Datagram datagram;
    datagram.mad = encode(smp);
    BOOST_REQUIRE(network.send(*device.adapter, datagram));
  }

  abi::AddressVector to(std::uint16_t lid) const {
    abi::AddressVector address{};
    address.port = 1;
    address.destination_lid = lid;
    return address;
  }
  int resolve(const abi::AddressVector& address) {
    path = {};
    return resolve_path(fabric, device, address, wire::Qpn{17}, wire::Qpn{42}, path);
  }

  Fabric fabric{parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n", "lab.toml")};
  const ServedDevice& device = *fabric.devices()[0];
  wire::NetworkHeaders path;
};

BOOST_FIXTURE_TEST_SUITE(local_path_resolution, InfinibandPort)

BOOST_AUTO_TEST_CASE(a_path_has_the_lids_of_both_ports) {
  abi::AddressVector address = to(17);
  address.service_level = 5;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_REQUIRE(path.local.has_value());
  BOOST_TEST(path.local->source.value == 8);
  BOOST_TEST(path.local->destination.value == 17);
  BOOST_TEST(path.local->service_level == 5);
  BOOST_TEST(!path.local->with_grh);
}

// IBTA 4.1.3: a port has as many LIDs as its LMC says, and no more bits than these count.
BOOST_AUTO_TEST_CASE(path_bits_choose_one_of_the_ports_lids) {
  abi::AddressVector address = to(17);
  address.source_path_bits = 0xFE;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST(path.local->source.value == 10);
}

// Codes of rates (IBTA 15.2.5.16); of SDR and DDR four fifths are data. What is no slower than the port is no
// limit.
BOOST_AUTO_TEST_CASE(a_static_rate_below_the_ports_is_a_limit) {
  PortRecord port = port_record_when_up(fabric, device);
  abi::AddressVector address = to(17);
  const auto limit = [&](std::uint8_t code) {
    address.static_rate = code;
    return static_rate_kbps(port, address);
  };
  port.rate = {subnet::LinkWidth::x4, subnet::LinkSpeed::edr};
  BOOST_TEST(limit(0) == 0u);
  BOOST_TEST(limit(2) == 2'000'000u);
  BOOST_TEST(limit(6) == 16'000'000u);
  BOOST_TEST(limit(15) == 25'000'000u);
  BOOST_TEST(limit(16) == 0u);
  BOOST_TEST(limit(17) == 0u);
  BOOST_TEST(limit(99) == 0u);
  port.rate = {subnet::LinkWidth::x1, subnet::LinkSpeed::sdr};
  BOOST_TEST(limit(2) == 0u);
  BOOST_TEST(limit(3) == 0u);
}

BOOST_AUTO_TEST_CASE(a_grh_has_the_gid_of_the_ports_table) {
  abi::AddressVector address = to(17);
  address.is_global = 1;
  address.hop_limit = 3;
  address.destination_gid[0] = 0xFE;
  address.destination_gid[15] = 7;
  BOOST_REQUIRE(resolve(address) == 0);
  BOOST_TEST(path.local->with_grh);
  BOOST_TEST(path.hop_limit == 3);
  BOOST_TEST((path.source == port_record_when_up(fabric, device).gids[0]));
  BOOST_TEST(path.destination.bytes[15] == 7);
  address.source_gid_index = 1;
  BOOST_TEST(resolve(address) == ENODATA);
  address.source_gid_index = 200;
  BOOST_TEST(resolve(address) == EINVAL);
}

BOOST_AUTO_TEST_CASE(what_no_path_leads_to) {
  BOOST_TEST(resolve(to(0)) == EINVAL);
  BOOST_TEST(resolve(to(0xC000)) == EINVAL);
  BOOST_TEST(resolve(to(0xFFFF)) == EINVAL);
  abi::AddressVector address = to(17);
  address.port = 2;
  BOOST_TEST(resolve(address) == EINVAL);
  address.port = 1;
  address.service_level = 16;
  BOOST_TEST(resolve(address) == EINVAL);
}

BOOST_AUTO_TEST_CASE(datagrams_go_to_groups_with_a_grh) {
  abi::AddressVector address = to(0xC003);
  BOOST_TEST(resolve_address(fabric, device, address, path) == EINVAL);
  address.is_global = 1;
  address.destination_gid[0] = 0xFF;
  BOOST_REQUIRE(resolve_address(fabric, device, address, path) == 0);
  BOOST_TEST(path.local->destination.value == 0xC003);
}

BOOST_AUTO_TEST_CASE(a_port_without_a_lid_has_no_paths) {
  const Fabric untouched{parse_configuration("[[devices]]\nlink_layer = \"infiniband\"\n", "lab.toml")};
  BOOST_TEST(resolve_path(untouched, *untouched.devices()[0], to(17), {}, {}, path) == EINVAL);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control
