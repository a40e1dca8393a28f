// What rules see in a frame, and which rule takes it.
#include "device_model/engine/steering/steering_table.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>

#include "tests/unit/engine/raw_frames.hpp"

namespace urnic::engine::test {
namespace {

FrameHeaders headers_of(const RawFrame& frame) { return read_headers(frame.bytes()); }

template <std::size_t count>
bool is(const std::array<std::uint8_t, count>& field, std::initializer_list<int> bytes) {
  return std::equal(field.begin(), field.end(), bytes.begin(), bytes.end());
}

// A rule's number in these tests: where its frames go is looked at as no more than a value.
SteeringTarget target(std::uintptr_t number) {
  return {.queue_pair = reinterpret_cast<QueuePairContext*>(number), .rss_table = nullptr};
}

struct Table {
  SteeringTable table;

  std::uint32_t add(std::uintptr_t number, const SteeringRule& rule) {
    SteeringRule with_target = rule;
    with_target.target = target(number);
    return table.add(with_target);
  }
  using Numbers = std::vector<std::uintptr_t>;
  Numbers steer(const RawFrame& frame, RuleKind first = RuleKind::sniffer,
                RuleKind last = RuleKind::all_default) {
    std::vector<SteeringTarget> targets;
    taken = table.steer(headers_of(frame), first, last, targets, owner);
    Numbers numbers;
    for (const SteeringTarget& one : targets)
      numbers.push_back(reinterpret_cast<std::uintptr_t>(one.queue_pair));
    return numbers;
  }
  void remove(const std::vector<std::uint32_t>& rules) { table.remove(rules); }
  bool taken = false;
  std::optional<PacketOwner> owner;  // of the frames
};

SteeringRule to_port(std::uint8_t low, std::uint16_t priority = 0) {
  SteeringRule rule;
  rule.priority = priority;
  rule.match.value.destination_port = {0x56, low};
  rule.match.mask.destination_port = {0xFF, 0xFF};
  rule.match.layers = layer_udp;
  return rule;
}

SteeringRule of_kind(RuleKind kind, std::uint16_t priority = 0) {
  SteeringRule rule;
  rule.kind = kind;
  rule.priority = priority;
  return rule;
}

using Numbers = Table::Numbers;

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_headers)

BOOST_AUTO_TEST_CASE(ethernet_and_its_tags) {
  RawFrame frame;
  FrameHeaders plain = headers_of(frame);
  BOOST_TEST(plain.layers == 0);
  BOOST_CHECK(is(plain.fields.destination_mac, {2, 0, 0, 0, 0, 2}));
  BOOST_CHECK(is(plain.fields.source_mac, {2, 0, 0, 0, 0, 1}));
  BOOST_CHECK(is(plain.fields.ether_type, {0x88, 0xB5}) && is(plain.fields.vlan_tag, {0, 0}));
  frame.vlan_tags = {0xA123, 0x0045};
  const FrameHeaders tagged = headers_of(frame);
  BOOST_TEST(tagged.layers == layer_vlan);
  BOOST_CHECK(is(tagged.fields.vlan_tag, {0xA1, 0x23}));
  BOOST_CHECK(is(tagged.fields.ether_type, {0x88, 0xB5}));  // the one behind the last tag
}

BOOST_AUTO_TEST_CASE(ipv4_with_options_and_without) {
  for (int words : {0, 1, 10}) {
    const auto options = static_cast<std::uint8_t>(words);
    const FrameHeaders headers = headers_of(ipv4_frame(kUdp, options));
    const FrameFields& fields = headers.fields;
    BOOST_TEST(headers.layers == (layer_ipv4 | layer_udp));
    BOOST_CHECK(is(fields.ipv4_source, {192, 0, 2, 1}) && is(fields.ipv4_destination, {192, 0, 2, 2}));
    BOOST_TEST((fields.ipv4_protocol == kUdp && fields.ipv4_tos == 0x2C && fields.ipv4_ttl == 61));
    BOOST_TEST(fields.ipv4_flags == 2);
    BOOST_CHECK(is(fields.source_port, {0x12, 0x34}) && is(fields.destination_port, {0x56, 0x78}));
  }
}

BOOST_AUTO_TEST_CASE(ports_are_in_the_first_fragment_only) {
  const FrameHeaders first = headers_of(ipv4_frame(kTcp, 0, 0x2000));
  BOOST_TEST(first.layers == (layer_ipv4 | layer_tcp | layer_fragment));
  BOOST_TEST(first.fields.ipv4_flags == 4);
  const FrameHeaders later = headers_of(ipv4_frame(kTcp, 0, 0x2001));
  BOOST_TEST(later.layers == (layer_ipv4 | layer_fragment));
  BOOST_CHECK(is(later.fields.destination_port, {0, 0}));
}

BOOST_AUTO_TEST_CASE(ipv6) {
  const FrameHeaders headers = headers_of(ipv6_frame(kTcp));
  const FrameFields& fields = headers.fields;
  BOOST_TEST(headers.layers == (layer_ipv6 | layer_tcp));
  BOOST_TEST((fields.ipv6_source[15] == 1 && fields.ipv6_destination[15] == 2));
  BOOST_TEST((fields.ipv6_source[0] == 0x20 && fields.ipv6_destination[3] == 0xB8));
  BOOST_CHECK(is(fields.ipv6_flow_label, {0, 0x0C, 0xDE, 0xF1}));
  BOOST_TEST((fields.ipv6_traffic_class == 0xAB && fields.ipv6_next_header == kTcp));
  BOOST_TEST(fields.ipv6_hop_limit == 62);
  BOOST_CHECK(is(fields.source_port, {0x12, 0x34}) && is(fields.destination_port, {0x56, 0x78}));
}

BOOST_AUTO_TEST_CASE(other_protocols_have_no_ports) {
  BOOST_TEST(headers_of(ipv4_frame(1)).layers == layer_ipv4);
  BOOST_TEST(headers_of(ipv6_frame(58)).layers == layer_ipv6);
  BOOST_TEST(headers_of(ipv6_frame(44)).layers == (layer_ipv6 | layer_fragment));
  BOOST_TEST(headers_of(ipv4_frame(1, 0, 5)).layers == (layer_ipv4 | layer_fragment));
}

// Each prefix of a frame: no header that is cut, nothing behind one.
BOOST_AUTO_TEST_CASE(what_is_cut_is_not_there) {
  RawFrame tagged = ipv4_frame();
  tagged.vlan_tags = {0x123};
  const struct {
    FrameBytes bytes;
    std::vector<std::pair<std::size_t, int>> from;  // from this length on, these layers
  } rows[] = {
      {ipv4_frame().bytes(), {{0, 0}, {34, layer_ipv4}, {38, layer_ipv4 | layer_udp}}},
      {ipv4_frame(kUdp, 2).bytes(), {{0, 0}, {34, layer_ipv4}, {46, layer_ipv4 | layer_udp}}},
      {ipv6_frame().bytes(), {{0, 0}, {54, layer_ipv6}, {58, layer_ipv6 | layer_udp}}},
      {tagged.bytes(),
       {{0, 0}, {18, layer_vlan}, {38, layer_vlan | layer_ipv4}, {42, layer_vlan | layer_ipv4 | layer_udp}}}};
  for (const auto& row : rows) {
    for (std::size_t length = 0; length <= row.bytes.size(); ++length) {
      // In memory of just that length, so that reading on would be seen.
      const FrameBytes cut(row.bytes.begin(), row.bytes.begin() + static_cast<std::ptrdiff_t>(length));
      int expected = 0;
      for (const auto& [from, layers] : row.from) {
        if (length >= from) expected = layers;
      }
      BOOST_TEST(int{read_headers(cut).layers} == expected, length);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_header_that_contradicts_itself_is_not_there) {
  RawFrame frame = ipv4_frame();
  for (const int first : {0x65, 0x44}) {  // another version; shorter than a header is
    frame.rest[0] = static_cast<std::uint8_t>(first);
    BOOST_TEST(headers_of(frame).layers == 0);
  }
  frame = ipv6_frame();
  frame.rest[0] = 0x4A;
  BOOST_TEST(headers_of(frame).layers == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(steering_table, Table)

BOOST_AUTO_TEST_CASE(without_rules_nobody_takes_anything) {
  BOOST_TEST(table.empty());
  BOOST_TEST(steer(ipv4_frame()).empty());
  BOOST_TEST(!taken);
}

// Every byte of every field: a rule that asks for it takes the frame, one that asks for another value, or for
// one other bit, does not, and a mask that leaves the difference out lets it pass.
BOOST_AUTO_TEST_CASE(each_bit_of_each_field_is_compared_where_the_mask_says) {
  RawFrame tagged = ipv4_frame(kTcp);
  tagged.vlan_tags = {0x7123};
  for (const RawFrame& frame : {tagged, ipv6_frame()}) {
    const FrameHeaders headers = headers_of(frame);
    std::array<std::uint8_t, sizeof(FrameFields)> fields;
    std::memcpy(fields.data(), &headers.fields, fields.size());
    for (std::size_t at = 0; at < fields.size(); ++at) {
      for (unsigned bit = 1; bit < 0x100; bit <<= 1) {
        FrameMatch match;
        auto* const value = reinterpret_cast<std::uint8_t*>(&match.value);
        auto* const mask = reinterpret_cast<std::uint8_t*>(&match.mask);
        mask[at] = static_cast<std::uint8_t>(bit);
        value[at] = fields[at] & mask[at];
        BOOST_TEST(match.takes(headers), at);
        value[at] ^= mask[at];
        BOOST_TEST(!match.takes(headers), at);
        value[at] = 0;
        mask[at] = 0;
        BOOST_TEST(match.takes(headers), at);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_header_that_is_asked_for_must_be_there) {
  for (const FrameLayer layer : {layer_vlan, layer_ipv4, layer_ipv6, layer_tcp, layer_udp}) {
    FrameMatch match;
    match.layers = layer;
    BOOST_TEST(match.takes(headers_of(ipv4_frame())) == (layer == layer_ipv4 || layer == layer_udp));
    BOOST_TEST(!match.takes(headers_of(RawFrame{})));
  }
}

BOOST_AUTO_TEST_CASE(the_lowest_number_is_asked_first_and_then_the_oldest) {
  SteeringRule any_udp = of_kind(RuleKind::normal, 5);
  any_udp.match.layers = layer_udp;
  add(1, any_udp);
  add(2, to_port(0x78, 7));
  BOOST_TEST(steer(ipv4_frame()) == Numbers{1});
  add(3, to_port(0x78, 4));
  BOOST_TEST(steer(ipv4_frame()) == Numbers{3});
  add(4, of_kind(RuleKind::normal, 4));  // takes everything, but came later
  BOOST_TEST(steer(ipv4_frame()) == Numbers{3});
  BOOST_TEST(steer(ipv4_frame(kTcp)) == Numbers{4});
  BOOST_TEST(taken);
}

BOOST_AUTO_TEST_CASE(rules_that_are_alike_have_a_copy_each) {
  add(1, to_port(0x78));
  add(2, of_kind(RuleKind::normal));
  add(3, to_port(0x78));
  add(4, to_port(0x78, 1));  // another priority
  BOOST_TEST(steer(ipv4_frame()) == (Numbers{1, 3}));
}

BOOST_AUTO_TEST_CASE(a_rule_that_passes_on_has_a_copy) {
  SteeringRule passing = to_port(0x78);
  passing.passes_on = true;
  add(1, passing);
  BOOST_TEST(steer(ipv4_frame()) == Numbers{1});
  BOOST_TEST(!taken);
  add(2, to_port(0x78, 3));
  BOOST_TEST(steer(ipv4_frame()) == (Numbers{1, 2}));
  BOOST_TEST(taken);
}

BOOST_AUTO_TEST_CASE(sniffers_have_copies_of_all_and_take_nothing) {
  add(1, of_kind(RuleKind::sniffer));
  add(2, of_kind(RuleKind::sniffer, 9));
  BOOST_TEST(steer(ipv4_frame()) == (Numbers{1, 2}));
  BOOST_TEST(!taken);
  add(3, to_port(0x78));
  BOOST_TEST(steer(ipv4_frame()) == (Numbers{1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(a_sniffer_that_sees_one_context_only) {
  SteeringRule rule = of_kind(RuleKind::sniffer);
  rule.sees_only = 5;
  add(1, rule);
  BOOST_TEST(steer(ipv4_frame()) == Numbers{1});
  owner = 5;
  BOOST_TEST(steer(ipv4_frame()) == Numbers{1});
  owner = 6;
  BOOST_TEST(steer(ipv4_frame()).empty());
  owner = kSeveralContexts;
  BOOST_TEST(steer(ipv4_frame()).empty());
}

BOOST_AUTO_TEST_CASE(default_rules_have_what_no_other_takes) {
  BOOST_TEST(!table.has_defaults());
  add(1, of_kind(RuleKind::all_default));
  add(2, of_kind(RuleKind::multicast_default, 100));
  add(3, to_port(0x78, 200));
  BOOST_TEST(table.has_defaults());
  RawFrame to_group = ipv4_frame(kTcp);
  to_group.to = {{1, 0, 0x5E, 0, 0, 1}};
  BOOST_TEST(steer(ipv4_frame()) == Numbers{3});
  BOOST_TEST(steer(ipv4_frame(kTcp)) == Numbers{1});
  BOOST_TEST(steer(to_group) == Numbers{2});
  BOOST_TEST(steer(to_group, RuleKind::sniffer, RuleKind::normal).empty());
  BOOST_TEST(!taken);
  BOOST_TEST(steer(ipv4_frame(), RuleKind::multicast_default, RuleKind::all_default) == Numbers{1});
}

BOOST_AUTO_TEST_CASE(rules_are_removed_together) {
  std::vector<std::uint32_t> rules;
  for (std::uintptr_t i = 1; i <= 6; ++i) rules.push_back(add(i, of_kind(RuleKind::sniffer)));
  remove({rules[0], rules[3], rules[5]});
  BOOST_TEST(steer(ipv4_frame()) == (Numbers{2, 3, 5}));
}

BOOST_AUTO_TEST_CASE(a_removed_rule_takes_nothing) {
  const std::uint32_t first = add(1, to_port(0x78));
  const std::uint32_t second = add(2, to_port(0x78, 1));
  remove({first});
  BOOST_TEST(steer(ipv4_frame()) == Numbers{2});
  remove({second});
  remove({second});
  BOOST_TEST(table.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
