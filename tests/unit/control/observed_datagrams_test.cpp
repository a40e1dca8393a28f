// Management datagrams of InfiniBand devices: which captures see, and at which points; which are packets.
#include <boost/test/unit_test.hpp>
#include <string>

#include "device_model/control/fabric/datagram_links.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "device_model/subnet/network.hpp"
#include "json/json.hpp"
#include "tests/unit/control/admin_program.hpp"
#include "tests/unit/control/umad_program.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control::test {
namespace {

using Lines = std::vector<std::string>;
using wire::mad::Smp;
using wire::mad::SubnetAttribute;

// Notes where it sees which packet, and that the packet is right.
struct Points final : link::FrameObserver {
  void observe(const link::Observation& seen) override {
    wire::ParsedFrame parsed;
    BOOST_TEST((wire::parse(seen.frame, parsed) == wire::ParseError::none));
    Smp smp;
    std::string line = std::string(seen.device) + " " + std::string(name(seen.point));
    if (decode(parsed.payload, smp) == wire::mad::MadError::none && smp.is_directed())
      line += (smp.is_returning ? " back " : " hop ") + std::to_string(smp.hop_pointer);
    if (!seen.remarks.empty()) line += ": " + std::string(seen.remarks);
    lines.push_back(line);
    origins.push_back(seen.origin);
    psns.push_back(parsed.transport.bth.psn.value());
  }

  Lines lines;
  std::vector<link::PacketOrigin> origins;
  std::vector<std::uint32_t> psns;
};

// Two devices on a switch, all with LIDs: the first one's port 1 is at port 1 of the switch.
struct ObservedSubnet {
  ObservedSubnet() {
    subnet::sweep(fabric.subnet());
    fabric.subnet_changed();
    home().add_observer(points);
  }
  ~ObservedSubnet() { home().remove_observer(points); }

  link::Switch& home() const { return fabric.infiniband_unit().frame_switch; }
  wire::Lid lid(std::size_t device) const {
    return fabric.subnet().port(*fabric.devices()[device]->adapter).lid;
  }
  Lines ask(std::initializer_list<unsigned> ports, wire::Lid destination = wire::kPermissiveLid) {
    Smp smp;
    const bool is_directed = destination == wire::kPermissiveLid;
    smp.header.management_class = is_directed ? wire::mad::ManagementClass::subnet_directed_route
                                              : wire::mad::ManagementClass::subnet_lid_routed;
    smp.header.class_version = wire::mad::kSubnetClassVersion;
    smp.header.method = wire::mad::Method::get;
    smp.header.attribute = {static_cast<std::uint16_t>(SubnetAttribute::node_info)};
    smp.hop_count = static_cast<std::uint8_t>(ports.size());
    std::size_t hop = 1;
    for (const unsigned port : ports) smp.initial_path[hop++] = static_cast<std::byte>(port);
    points.lines.clear();
    points.origins.clear();
    points.psns.clear();
    fabric.subnet().send(*fabric.devices()[0]->adapter, {.destination = destination, .mad = encode(smp)});
    return points.lines;
  }

  Fabric fabric{infiniband_configuration()};
  Points points;
};

const std::string kTwoPorts =
    "subnet_manager = \"built_in\"\n[[devices]]\nlink_layer = \"infiniband\"\n[[devices]]\nlink_layer = "
    "\"infiniband\"\n";

// A program at each of two devices that the built-in manager has made active.
struct TwoPrograms {
  std::uint16_t lid(int device) const {
    return static_cast<std::uint16_t>(std::stoul(process.port_file(device, "lid"), nullptr, 16));
  }
  void write_ping(std::uint16_t to) {
    const Mad question = ping(Method::get, ++transaction);
    BOOST_TEST(client.write(packet_to(to, question, client_id)) == 0);
  }
  nlohmann::json counters_of(const char* device) {
    return admin.ask({{"cmd", "counters"}}).at("devices").at(device);
  }

  RunningProcess process{{}, parse_configuration(kTwoPorts, "lab.toml")};
  AdminProgram admin{process};
  UmadProgram client{process, 0};
  UmadProgram server{process, 1};
  std::uint32_t client_id = client.register_client();
  std::uint64_t transaction = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(observed_datagrams)

// What a switch sends or receives has the points of the device at the link's other end.
BOOST_FIXTURE_TEST_CASE(a_switchs_answer_is_seen_at_the_device, ObservedSubnet) {
  BOOST_TEST(ask({1}) == (Lines{"urnic0 before the link hop 1", "urnic0 after the link hop 1",
                                "urnic0 before the link back 1", "urnic0 after the link back 1"}),
             boost::test_tools::per_element());
  const wire::MacAddress mac = fabric.devices()[0]->settings.mac;
  BOOST_TEST((points.origins.at(0).device == mac));
  BOOST_TEST((points.origins.at(2).device == wire::MacAddress{}));
}

BOOST_FIXTURE_TEST_CASE(a_directed_route_is_seen_on_each_devices_link, ObservedSubnet) {
  BOOST_TEST(ask({1, 2}) == (Lines{"urnic0 before the link hop 1", "urnic0 after the link hop 1",
                                   "urnic1 before the link hop 2", "urnic1 after the link hop 2",
                                   "urnic1 before the link back 2", "urnic1 after the link back 2",
                                   "urnic0 before the link back 1", "urnic0 after the link back 1"}),
             boost::test_tools::per_element());
  const wire::MacAddress asker = fabric.devices()[0]->settings.mac;
  BOOST_TEST((points.origins.at(2).device == asker));
}

BOOST_FIXTURE_TEST_CASE(one_by_lid_is_seen_where_it_begins_and_ends, ObservedSubnet) {
  BOOST_TEST(ask({}, lid(1)) == (Lines{"urnic0 before the link", "urnic1 after the link",
                                       "urnic1 before the link", "urnic0 after the link"}),
             boost::test_tools::per_element());
  BOOST_TEST(ask({}, {77}) == (Lines{"urnic0 before the link",
                                     "urnic0 dropped: subnet: a switch has no route to the LID"}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(what_links_do_is_seen, ObservedSubnet) {
  link::LinkSettings settings;
  settings.duplicate = 1;
  home().link(0).configure(link::Direction::transmit, settings);
  ask({}, lid(1));
  fabric.datagram_links()->take_arrivals();
  const Lines copy{"urnic1 after the link: urnic0 tx: duplicated by chance", "urnic1 before the link",
                   "urnic0 after the link"};
  Lines expected{"urnic0 before the link"};
  for (int copies = 0; copies < 2; ++copies) expected.insert(expected.end(), copy.begin(), copy.end());
  BOOST_TEST(points.lines == expected, boost::test_tools::per_element());

  home().link(0).configure(link::Direction::transmit, {});
  settings.loss = 1;
  home().link(1).configure(link::Direction::receive, settings);
  BOOST_TEST(
      ask({}, lid(1)) == (Lines{"urnic0 before the link", "urnic1 dropped: urnic1 rx: lost by chance"}),
      boost::test_tools::per_element());
  BOOST_TEST(ask({1, 2}) ==
                 (Lines{"urnic0 before the link hop 1", "urnic0 after the link hop 1",
                        "urnic1 before the link hop 2", "urnic1 dropped hop 2: urnic1 rx: lost by chance"}),
             boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(each_sender_numbers_its_packets, ObservedSubnet) {
  ask({}, lid(1));
  const std::vector<std::uint32_t> first = points.psns;
  ask({}, lid(1));
  BOOST_TEST(first == (std::vector<std::uint32_t>{0, 0, 0, 0}), boost::test_tools::per_element());
  BOOST_TEST(points.psns == (std::vector<std::uint32_t>{1, 1, 1, 1}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(without_a_capture_nothing_is_shown, ObservedSubnet) {
  home().remove_observer(points);
  BOOST_TEST(!home().is_observed());
  BOOST_TEST(ask({1, 2}).empty());
  home().add_observer(points);
  BOOST_TEST(home().is_observed());
}

// As programs send them: what is for another device's QP1 is a packet, which its link counts, and may lose.
BOOST_FIXTURE_TEST_CASE(what_is_for_another_device_is_a_packet, TwoPrograms) {
  ib_user_mad_reg_req2 request = ping_server();
  BOOST_REQUIRE(server.ask(UmadRequestKind::register_agent2, request) == 0);
  write_ping(lid(1));
  UmadPacket asked;
  BOOST_TEST(server.read(asked) == sizeof asked);
  BOOST_TEST(ntohs(asked.header.lid) == lid(0));
  BOOST_TEST(asked.header.grh_present == 0);
  BOOST_TEST(counters_of("urnic1").at("port_rcv_packets") == 1);

  admin.ask({{"cmd", "link"}, {"device", "urnic0"}, {"set", {{"loss", 1}}}});
  write_ping(lid(1));
  BOOST_TEST(server.read(asked, 50) == 0u);
  BOOST_TEST(counters_of("urnic0").at("link_tx_lost") == 1);
}

// A port's own LID, too.
BOOST_FIXTURE_TEST_CASE(a_device_sends_packets_to_itself, TwoPrograms) {
  UmadProgram own(process, 0);
  ib_user_mad_reg_req2 request = ping_server();
  BOOST_REQUIRE(own.ask(UmadRequestKind::register_agent2, request) == 0);
  write_ping(lid(0));
  UmadPacket asked;
  BOOST_TEST(own.read(asked) == sizeof asked);
  BOOST_TEST(ntohs(asked.header.lid) == lid(0));
}

// Nobody has the LID, or the permissive one is the own port's: neither is an error of the program's.
BOOST_FIXTURE_TEST_CASE(other_lids_are_no_error, TwoPrograms) {
  write_ping(77);
  write_ping(0xC001);
  UmadProgram own(process, 0);
  ib_user_mad_reg_req2 request = ping_server();
  BOOST_REQUIRE(own.ask(UmadRequestKind::register_agent2, request) == 0);
  write_ping(0xFFFF);
  UmadPacket asked;
  BOOST_TEST(own.read(asked) == sizeof asked);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
