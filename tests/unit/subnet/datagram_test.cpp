// Management datagrams as packets: their headers, and where they pass.
#include "device_model/subnet/datagram.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "managed_fabric.hpp"
#include "wire/byte_order.hpp"

namespace urnic::subnet::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packet(const Datagram& datagram, std::uint32_t psn = 0) {
  wire::FrameStorage storage;
  const wire::Frame frame = packet_of(datagram, wire::Psn(psn), storage);
  BOOST_TEST((frame.link_layer == wire::LinkLayer::infiniband));
  Bytes bytes(frame.size());
  wire::copy_whole(frame, bytes.data());
  return bytes;
}

Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

bool begins_with(const Bytes& bytes, const Bytes& beginning) {
  return std::equal(beginning.begin(), beginning.end(), bytes.begin());
}

bool is_right(const Bytes& bytes) {
  const wire::Frame frame{
      .headers = bytes, .payload = {}, .trailer = {}, .link_layer = wire::LinkLayer::infiniband};
  wire::ParsedFrame parsed;
  return wire::parse(frame, parsed) == wire::ParseError::none;
}

// Notes each packet's ends, and for a directed route how far it has come.
struct Seen final : EndLinks {
  bool leave(const Packet&) override { return true; }
  bool arrive(const Packet& packet, PortPlace to) override {
    note(packet, place(to));
    return true;
  }
  void stick(const Packet& packet, std::string_view why) override { note(packet, std::string(why)); }
  void refuse(const Packet& packet, PortPlace at, std::string_view why) override {
    note(packet, place(at) + " " + std::string(why));
  }

  void note(const Packet& packet, const std::string& end) {
    std::string& line =
        lines.emplace_back(std::to_string(packet.maker) + ": " + place(packet.from) + " > " + end);
    Smp smp;
    const bool is_directed = decode(packet.datagram.mad, smp) == MadError::none && smp.is_directed();
    if (is_directed) line += (smp.is_returning ? " back " : " hop ") + std::to_string(smp.hop_pointer);
  }
  static std::string place(PortPlace at) { return std::to_string(at.node) + "." + std::to_string(at.port); }

  std::vector<std::string> lines;
};

struct Observed : ManagedFabric {
  Observed() { network.use(seen); }

  Seen seen;
};

using Lines = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datagram, Observed)

// IBTA 7.7, 9.2, 9.3.1, 14.2.2: no LIDs, virtual lane 15, 72 words to the ICRC; UD SEND only, the default
// partition; queue pair 0 at both ends.
BOOST_AUTO_TEST_CASE(a_directed_one_has_no_lids) {
  Datagram asked{.source = {1}, .destination = {4}, .service_level = 3};
  asked.mad = encode(along(question(Method::get, SubnetAttribute::node_info), {1, 2}));
  const Bytes bytes = packet(asked, 0x123456);
  BOOST_TEST(bytes.size() == 288u);
  BOOST_TEST(begins_with(bytes, bytes_of({0xF0, 0x02, 0xFF, 0xFF, 0x00, 0x48, 0xFF, 0xFF,  //
                                          0x64, 0x40, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12, 0x34,
                                          0x56,  //
                                          0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00})));
  BOOST_TEST(std::equal(asked.mad.begin(), asked.mad.end(), bytes.begin() + 28));
  BOOST_TEST(is_right(bytes));
}

BOOST_AUTO_TEST_CASE(one_by_lid_has_both_lids_and_no_service_level) {
  Datagram asked{.source = {0x0102}, .destination = {0x0304}, .service_level = 3};
  asked.mad = encode(question(Method::get, SubnetAttribute::node_info));
  const Bytes bytes = packet(asked);
  BOOST_TEST(begins_with(bytes, bytes_of({0xF0, 0x02, 0x03, 0x04, 0x00, 0x48, 0x01, 0x02})));
  BOOST_TEST(is_right(bytes));
}

// IBTA 15.4.2: its Q_Key is 0x80010000; it has a service level, and no virtual lane of its own.
BOOST_AUTO_TEST_CASE(one_of_another_class_is_for_queue_pair_one) {
  Datagram asked{
      .source = {1}, .destination = {4}, .source_qpn = 1, .destination_qpn = 1, .service_level = 3};
  const Bytes bytes = packet(asked);
  BOOST_TEST(begins_with(bytes, bytes_of({0x00, 0x32, 0x00, 0x04, 0x00, 0x48, 0x00, 0x01,  //
                                          0x64, 0x40, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
                                          0x00,  //
                                          0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01})));
  BOOST_TEST(is_right(bytes));
}

// IBTA 13.5.1: but for what no management queue pair takes.
BOOST_AUTO_TEST_CASE(a_packet_is_the_datagram_again) {
  const auto again = [](const Datagram& datagram) {
    const Bytes bytes = packet(datagram, 7);
    wire::ParsedFrame parsed;
    wire::parse({.headers = bytes, .payload = {}, .trailer = {}, .link_layer = wire::LinkLayer::infiniband},
                parsed);
    return datagram_of(parsed);
  };
  Datagram asked{.source = {1}, .destination = {4}};
  asked.mad = encode(question(Method::get, SubnetAttribute::node_info));
  const auto same = again(asked);
  BOOST_REQUIRE(same.has_value());
  BOOST_TEST(same->source.value == 1);
  BOOST_TEST(same->destination.value == 4);
  BOOST_TEST((same->mad == asked.mad));
  asked.destination_qpn = 1;
  BOOST_TEST(!again(asked).has_value());
  asked.source_qpn = 1;
  BOOST_TEST(!again(asked).has_value());
  asked.mad[1] = std::byte{0x04};  // another class, of queue pair 1
  BOOST_TEST(again(asked).has_value());
  asked.destination_qpn = 0;
  BOOST_TEST(!again(asked).has_value());
}

// Each node changes it. The answer is the far adapter's.
BOOST_AUTO_TEST_CASE(a_directed_route_is_a_packet_on_each_link) {
  ask(along(question(Method::get, SubnetAttribute::node_info), {1, 2, 1}));
  const Lines expected{"0: 0.1 > 2.1 hop 1",  "0: 2.2 > 3.3 hop 2",  "0: 3.1 > 1.1 hop 3",
                       "1: 1.1 > 3.1 back 3", "1: 3.3 > 2.2 back 2", "1: 2.1 > 0.1 back 1"};
  BOOST_TEST(seen.lines == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(one_by_lid_is_one_packet_from_end_to_end) {
  ask(question(Method::get, SubnetAttribute::node_info), {4});
  BOOST_TEST(seen.lines == (Lines{"0: 0.1 > 1.1", "1: 1.1 > 0.1"}), boost::test_tools::per_element());
  seen.lines.clear();
  ask(question(Method::get, SubnetAttribute::node_info), {3});
  BOOST_TEST(seen.lines == (Lines{"0: 0.1 > 3.3", "3: 3.0 > 0.1"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_gets_stuck_says_why) {
  const auto ways = [&](std::initializer_list<unsigned> near, std::uint16_t lid) {
    write_routes({1}, near);
    seen.lines.clear();
    ask(question(Method::get, SubnetAttribute::node_info), {lid});
    return seen.lines;
  };
  BOOST_TEST((ways({kNoRoute, 1, 0, 2}, 4) == Lines{"0: 0.1 > subnet: a switch has no route to the LID"}));
  BOOST_TEST(
      (ways({kNoRoute, 1, 0, 2, 4}, 4) == Lines{"0: 0.1 > subnet: a port on the way takes no such packet"}));
  BOOST_TEST(
      (ways({kNoRoute, 1, 0, 2, 1}, 4) == Lines{"0: 0.1 > subnet: the port at the end has another LID"}));
  write_routes({1, 2}, {kNoRoute, 3, 3, 0, 3});
  BOOST_TEST((ways({kNoRoute, 1, 0, 2, 2}, 4) == Lines{"0: 0.1 > subnet: the routes go round in a circle"}));
  seen.lines.clear();
  network.send(kOne, {.destination = {3}, .source_qpn = 1, .destination_qpn = 1});
  BOOST_TEST((seen.lines == Lines{"0: 0.1 > subnet: a port on the way takes no such packet"}));
}

BOOST_AUTO_TEST_CASE(what_leaves_no_port_is_no_packet) {
  ask(question(Method::get, SubnetAttribute::node_info), kPermissiveLid);
  ask(question(Method::get, SubnetAttribute::node_info), {1});
  ask(along(question(Method::get, SubnetAttribute::node_info), {}));
  network.set_cable({kOne, 1}, false);
  ask(along(question(Method::get, SubnetAttribute::node_info), {1}));
  BOOST_TEST(seen.lines.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::subnet::test
