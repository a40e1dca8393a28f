#include "device_model/link/neighbours/neighbour_discovery.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "wire/ethernet.hpp"

namespace urnic::link::test {
namespace neighbour_discovery {

using std::chrono::seconds;

constexpr wire::MacAddress kOwn{{0x02, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kPeer{{0x52, 0x54, 0, 0, 0, 2}};
constexpr wire::MacAddress kOther{{0x52, 0x54, 0, 0, 0, 3}};

wire::Gid ipv4(std::uint8_t third, std::uint8_t last) {
  return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, third, last}};
}
wire::Gid ipv6(std::uint8_t last) { return {{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}}; }

constexpr auto kTypeAt = static_cast<long>(wire::kEtherTypeOffset);

std::vector<std::byte> in_vlan(std::span<const std::byte> frame, int tag) {
  std::vector<std::byte> tagged(frame.begin(), frame.end());
  std::array<std::byte, wire::kVlanTagBytes> bytes;
  wire::store_be16(bytes.data(), wire::ether_type::kVlan);
  wire::store_be16(bytes.data() + 2, static_cast<std::uint16_t>(tag));
  tagged.insert(tagged.begin() + kTypeAt, bytes.begin(), bytes.end());
  return tagged;
}

std::vector<std::byte> without_tag(std::vector<std::byte> frame) {
  frame.erase(frame.begin() + kTypeAt, frame.begin() + kTypeAt + 4);
  return frame;
}

// 0: the frame has no tag.
int vlan_of(const std::vector<std::byte>& frame) {
  if (wire::load_be16(frame.data() + wire::kEtherTypeOffset) != wire::ether_type::kVlan) return 0;
  return wire::load_be16(frame.data() + wire::kEthernetBytes);
}

// A LAN under virtual time, as one host's discovery sees it.
struct Lan : NeighbourDiscovery::Sender {
  transport::Time now{seconds(100)};
  int wakes = 0;
  std::vector<std::vector<std::byte>> sent;
  NeighbourDiscovery discovery{[this] { return now; }, [this] { ++wakes; }};

  Lan() { discovery.set_addresses({{ipv4(0, 1), kOwn}, {ipv4(7, 1), kOwn}, {ipv6(1), kOwn}}); }

  void send(std::span<const std::byte> frame) override { sent.emplace_back(frame.begin(), frame.end()); }
  Neighbour::State state(const wire::Gid& gid) { return discovery.find(gid).state; }
  void run() { discovery.run(now, *this); }
  // Runs at each time that the discovery asks for, until `end`.
  void run_until(transport::Time end) {
    for (run(); discovery.next_due() && *discovery.next_due() <= end; run()) now = *discovery.next_due();
    now = end;
  }
  void arp_reply(const wire::Gid& from, const wire::MacAddress& mac) {
    const auto frame = wire::encode_arp({wire::ArpOperation::reply, mac, from, kOwn, ipv4(0, 1)}, kOwn);
    BOOST_TEST(discovery.receive(frame, now, *this));
  }
  void arp_request(const wire::Gid& from, const wire::MacAddress& mac, const wire::Gid& target) {
    const auto frame =
        wire::encode_arp({wire::ArpOperation::request, mac, from, {}, target}, wire::kBroadcastMac);
    BOOST_TEST(discovery.receive(frame, now, *this));
  }
  wire::Arp sent_arp(std::size_t number) {
    const auto arp = wire::parse_arp(sent.at(number));
    BOOST_REQUIRE(arp);
    return *arp;
  }
};

using State = Neighbour::State;

BOOST_FIXTURE_TEST_SUITE(neighbour_discovery, Lan)

BOOST_AUTO_TEST_CASE(an_ipv4_address_is_asked_for_and_found) {
  BOOST_TEST((state(ipv4(0, 2)) == State::asked));
  BOOST_TEST(wakes == 1);
  run();
  BOOST_TEST(sent.size() == 1u);
  BOOST_TEST((sent_arp(0) == wire::Arp{wire::ArpOperation::request, kOwn, ipv4(0, 1), {}, ipv4(0, 2)}));
  BOOST_TEST((wire::load_mac(sent[0].data()) == wire::kBroadcastMac));
  BOOST_TEST((state(ipv4(0, 2)) == State::asked));
  run();
  BOOST_TEST(sent.size() == 1u);  // the question is under way
  arp_reply(ipv4(0, 2), kPeer);
  BOOST_TEST((discovery.find(ipv4(0, 2)).mac == kPeer));
  BOOST_TEST(!discovery.next_due());
}

// Each VLAN is a network of its own: questions and answers have its tag.
BOOST_AUTO_TEST_CASE(a_vlan_is_asked_with_its_tag) {
  discovery.set_addresses({{ipv4(0, 1), kOwn}, {ipv4(5, 1), kOwn, 5}, {ipv6(1), kOwn, 5}});
  BOOST_TEST((discovery.find_in(5, ipv4(0, 2)).state == State::asked));
  BOOST_TEST((discovery.find_in(5, ipv6(2)).state == State::asked));
  BOOST_TEST((discovery.find_in(6, ipv4(0, 2)).state == State::unreachable));
  run();
  BOOST_REQUIRE(sent.size() == 2u);
  for (std::vector<std::byte> frame : sent) {
    BOOST_TEST(vlan_of(frame) == 5);
    const auto plain = without_tag(frame);
    const auto arp = wire::parse_arp(plain);
    const auto question = wire::parse_neighbour(plain);
    BOOST_TEST((arp || question));
    if (arp) BOOST_TEST((arp->sender == ipv4(5, 1)));
    if (question) BOOST_TEST((question->source == ipv6(1)));
  }
  const auto answer =
      wire::encode_arp({wire::ArpOperation::reply, kPeer, ipv4(0, 2), kOwn, ipv4(5, 1)}, kOwn);
  for (const int vlan : {6, 0}) discovery.receive(in_vlan(answer, vlan), now, *this);
  BOOST_TEST(discovery.tables().size() == 2u);  // nobody here is in VLAN 6
  BOOST_TEST((discovery.find_in(5, ipv4(0, 2)).state == State::asked));
  BOOST_TEST(discovery.receive(in_vlan(answer, 3 << 13 | 5), now, *this));
  BOOST_TEST((discovery.find_in(5, ipv4(0, 2)).mac == kPeer));
  BOOST_TEST((discovery.find(ipv4(0, 2)).state == State::asked));
}

BOOST_AUTO_TEST_CASE(a_vlan_is_answered_with_its_tag) {
  discovery.set_addresses({{ipv4(0, 1), kOwn}, {ipv4(5, 1), kOwn, 5}});
  const auto ask = [&](const wire::Gid& target, int vlan) {
    sent.clear();
    const wire::Arp question{wire::ArpOperation::request, kPeer, ipv4(9, 9), {}, target};
    discovery.receive(in_vlan(wire::encode_arp(question, wire::kBroadcastMac), vlan), now, *this);
    return sent.size();
  };
  BOOST_TEST(ask(ipv4(5, 1), 5) == 1u);
  BOOST_TEST(vlan_of(sent[0]) == 5);
  BOOST_TEST((wire::parse_arp(without_tag(sent[0]))->sender == ipv4(5, 1)));
  for (const int vlan : {0, 6, 1 << 13}) BOOST_TEST(ask(ipv4(5, 1), vlan) == 0u);
  BOOST_TEST(ask(ipv4(0, 1), 5) == 0u);
  BOOST_TEST(ask(ipv4(0, 1), 3 << 13) == 1u);  // a priority and no VLAN
  BOOST_TEST(vlan_of(sent[0]) == 0);
}

// Nothing is read behind a frame's end, however it is cut, and a long one is no message.
BOOST_AUTO_TEST_CASE(frames_of_a_vlan_have_any_length) {
  discovery.set_addresses({{ipv4(5, 1), kOwn, 5}});
  const wire::Arp question{wire::ArpOperation::request, kPeer, ipv4(9, 9), {}, ipv4(5, 1)};
  std::vector<std::byte> frame = in_vlan(wire::encode_arp(question, wire::kBroadcastMac), 5);
  frame.resize(3000);
  for (std::size_t size = wire::kEthernetBytes; size < frame.size(); ++size) {
    const std::vector<std::byte> cut(frame.begin(), frame.begin() + static_cast<long>(size));
    BOOST_TEST(discovery.receive(cut, now, *this) == (size >= 46 && size <= 260));
  }
}

BOOST_AUTO_TEST_CASE(the_own_address_of_the_same_network_asks) {
  BOOST_TEST((state(ipv4(7, 9)) == State::asked));
  run();
  BOOST_TEST((sent_arp(0).sender == ipv4(7, 1)));
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  BOOST_TEST((state(ipv4(0, 2)) == State::asked));
  run_until(now + seconds(3));
  BOOST_TEST(sent.size() == 3u);
  BOOST_TEST((state(ipv4(0, 2)) == State::unreachable));
  now += seconds(2);
  BOOST_TEST((state(ipv4(0, 2)) == State::asked));  // tries again
}

BOOST_AUTO_TEST_CASE(an_old_entry_is_used_and_confirmed) {
  state(ipv4(0, 2));
  run();
  arp_reply(ipv4(0, 2), kPeer);
  now += seconds(29);
  BOOST_TEST((state(ipv4(0, 2)) == State::known));
  BOOST_TEST(!discovery.next_due());
  now += seconds(2);
  BOOST_TEST((state(ipv4(0, 2)) == State::known));
  run();
  BOOST_TEST(sent.size() == 2u);
  BOOST_TEST((wire::load_mac(sent[1].data()) == kPeer));  // asked directly
  run_until(now + seconds(3));
  BOOST_TEST((state(ipv4(0, 2)) == State::unreachable));  // the peer is gone
}

BOOST_AUTO_TEST_CASE(a_peer_that_moves_is_found_at_its_new_address) {
  state(ipv4(0, 2));
  run();
  arp_reply(ipv4(0, 2), kPeer);
  arp_request(ipv4(0, 2), kOther, ipv4(0, 9));  // to nobody here, but it tells where the peer is
  BOOST_TEST((discovery.find(ipv4(0, 2)).mac == kOther));
}

BOOST_AUTO_TEST_CASE(own_addresses_are_answered_for_and_askers_remembered) {
  arp_request(ipv4(0, 2), kPeer, ipv4(0, 1));
  BOOST_TEST(sent.size() == 1u);
  BOOST_TEST((sent_arp(0) == wire::Arp{wire::ArpOperation::reply, kOwn, ipv4(0, 1), kPeer, ipv4(0, 2)}));
  BOOST_TEST((discovery.find(ipv4(0, 2)).mac == kPeer));
  arp_request(ipv4(0, 3), kOther, ipv4(0, 200));
  BOOST_TEST(sent.size() == 1u);
  BOOST_TEST(discovery.tables().at(0).entries().size() == 1u);  // strangers are not
}

// RFC 5227: a node that probes for a conflict has no address yet.
BOOST_AUTO_TEST_CASE(a_probe_is_answered) {
  arp_request(ipv4(0, 0), kPeer, ipv4(0, 1));
  wire::Gid none = ipv4(0, 0);
  none.bytes[12] = 0;
  arp_request(none, kPeer, ipv4(0, 1));
  BOOST_TEST(sent.size() == 2u);
}

BOOST_AUTO_TEST_CASE(who_claims_an_own_address_is_not_believed) {
  arp_reply(ipv4(0, 1), kPeer);
  arp_request(ipv4(0, 1), kPeer, ipv4(0, 1));
  BOOST_TEST(discovery.tables().at(0).entries().empty());
  BOOST_TEST((state(ipv4(0, 1)) == State::unreachable));  // not a neighbour
}

BOOST_AUTO_TEST_CASE(an_unasked_answer_makes_no_entry) {
  arp_reply(ipv4(0, 2), kPeer);
  BOOST_TEST(discovery.tables().at(0).entries().empty());
}

BOOST_AUTO_TEST_CASE(an_ipv6_address_is_asked_for_and_found) {
  BOOST_TEST((state(ipv6(2)) == State::asked));
  run();
  const auto question = wire::parse_neighbour(sent.at(0));
  BOOST_REQUIRE(question);
  BOOST_TEST((question->target == ipv6(2)));
  BOOST_TEST((question->source == ipv6(1)));
  BOOST_TEST((question->destination == wire::solicited_node_group(ipv6(2))));
  const auto answer = wire::encode_neighbour({.kind = wire::NeighbourMessageKind::advertisement,
                                              .destination_mac = kOwn,
                                              .source_mac = kPeer,
                                              .destination = ipv6(1),
                                              .source = ipv6(2),
                                              .target = ipv6(2),
                                              .solicited = true,
                                              .overrides = true,
                                              .link_layer = kPeer});
  BOOST_TEST(discovery.receive(answer, now, *this));
  BOOST_TEST((discovery.find(ipv6(2)).mac == kPeer));
}

BOOST_AUTO_TEST_CASE(a_solicitation_is_answered) {
  const wire::Gid group = wire::solicited_node_group(ipv6(1));
  wire::NeighbourMessage question{.kind = wire::NeighbourMessageKind::solicitation,
                                  .destination_mac = wire::kBroadcastMac,
                                  .source_mac = kPeer,
                                  .destination = group,
                                  .source = ipv6(2),
                                  .target = ipv6(1),
                                  .solicited = false,
                                  .overrides = false,
                                  .link_layer = kPeer};
  discovery.receive(wire::encode_neighbour(question), now, *this);
  const auto answer = wire::parse_neighbour(sent.at(0));
  BOOST_REQUIRE(answer);
  BOOST_TEST((answer->target == ipv6(1)));
  BOOST_TEST((answer->link_layer == kOwn));
  BOOST_TEST((answer->destination == ipv6(2)));
  BOOST_TEST(answer->solicited);
  BOOST_TEST((discovery.find(ipv6(2)).mac == kPeer));
  question.target = ipv6(77);
  question.destination = wire::solicited_node_group(ipv6(77));
  discovery.receive(wire::encode_neighbour(question), now, *this);
  BOOST_TEST(sent.size() == 1u);
}

BOOST_AUTO_TEST_CASE(other_frames_are_left_alone) {
  std::vector<std::byte> frame(100, std::byte{0x5A});
  BOOST_TEST(!discovery.receive(frame, now, *this));
  BOOST_TEST(!discovery.receive({}, now, *this));
}

// A node that asks from ever new addresses fills the table, which keeps what is being asked for.
BOOST_AUTO_TEST_CASE(the_table_is_bounded) {
  state(ipv4(0, 2));
  for (std::uint32_t i = 0; i < 3 * NeighbourTable::kMostEntries; ++i) {
    const wire::Gid from =
        ipv4(static_cast<std::uint8_t>(8 + i / 200), static_cast<std::uint8_t>(1 + i % 200));
    arp_request(from, kPeer, ipv4(0, 1));
  }
  BOOST_TEST(discovery.tables().at(0).entries().size() == NeighbourTable::kMostEntries);
  arp_reply(ipv4(0, 2), kOther);
  BOOST_TEST((discovery.find(ipv4(0, 2)).mac == kOther));
}

BOOST_AUTO_TEST_CASE(without_an_address_of_the_family_nobody_can_be_asked) {
  discovery.set_addresses({{ipv4(0, 1), kOwn}});
  BOOST_TEST((state(ipv6(2)) == State::unreachable));
  BOOST_TEST(wakes == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace neighbour_discovery
}  // namespace urnic::link::test
