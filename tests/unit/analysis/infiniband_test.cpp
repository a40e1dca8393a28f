// Packets of InfiniBand: their headers and CRCs, in words, changed, and as connections between LIDs.
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/edited_frame.hpp"
#include "analysis/dissection/field_value.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/flows/connections.hpp"
#include "tests/unit/analysis/infiniband_packets.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::analysis::test {
namespace infiniband {

using wire::Opcode;
using wire::Operation;
using wire::ParseError;
using wire::Service;
using wire::test::Bytes;
using wire::test::transport_for;

Dissection dissect_packet(const Bytes& packet) {
  return dissect(packet, packet.size(), wire::LinkLayer::infiniband);
}
// A dissection refers to the packet's bytes.
Dissection dissect_packet(Bytes&& packet) = delete;

std::string names_of(const Dissection& dissection) {
  std::string names;
  for (const PlacedHeader& placed : dissection.headers())
    names += (names.empty() ? "" : " ") + std::string(placed.header->name);
  return names;
}

std::string text_in(const Bytes& packet, const char* name) {
  const Dissection dissection = dissect_packet(packet);
  const auto placed = dissection.find(name);
  return placed ? value_text(*placed->field, read_value(*placed, packet)) : "-";
}

Bytes send_of(std::size_t payload, bool with_grh = false) {
  return on_link(infiniband_network(with_grh), transport_for(Opcode(Service::rc, Operation::send_only)),
                 payload);
}

using wire::infiniband::test::with_variant_crc;

BOOST_AUTO_TEST_SUITE(infiniband)

BOOST_AUTO_TEST_CASE(every_opcode_has_its_headers_without_a_gap_between) {
  for (unsigned value = 0; value < 256; ++value) {
    const Opcode opcode{static_cast<std::uint8_t>(value)};
    const std::size_t payload = wire::traits(opcode).carries_payload ? 33 : 0;
    for (const bool with_grh : {false, true}) {
      const Bytes packet = on_link(infiniband_network(with_grh), transport_for(opcode), payload);
      const Dissection result = dissect_packet(packet);
      BOOST_TEST_CONTEXT("opcode " << value << (with_grh ? " with" : " without")) {
        BOOST_TEST(result.has_bth());
        BOOST_TEST((result.verdict() ==
                    (wire::traits(opcode).known ? ParseError::none : ParseError::unknown_opcode)));
        BOOST_TEST((result.icrc() == CrcCheck::right));
        BOOST_TEST((result.vcrc() == CrcCheck::right));
        BOOST_TEST((result.network().local == infiniband_network(with_grh).local));
        if (with_grh) BOOST_TEST((result.network() == infiniband_network(true)));
        BOOST_TEST(result.transport().bth.psn.value() == 0x987654u);
        BOOST_TEST(result.payload_bytes() == payload);
        std::size_t at = 0;
        for (const PlacedHeader& placed : result.headers()) {
          BOOST_TEST(placed.offset == at);
          at += placed.bytes;
        }
        BOOST_TEST(at == packet.size());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(fields_have_their_values) {
  struct Row {
    const char* field;
    const char* value;
  };
  constexpr Row kRows[] = {{"lrh.vl", "1"},         {"lrh.lver", "0"},
                           {"lrh.sl", "3"},         {"lrh.lnh", "3"},
                           {"lrh.dlid", "5"},       {"lrh.pktlen", "19"},
                           {"lrh.slid", "2"},       {"grh.ipver", "6"},
                           {"grh.tclass", "106"},   {"grh.flowlabel", "0xabcde"},
                           {"grh.paylen", "28"},    {"grh.nxthdr", "0x1b"},
                           {"grh.hoplmt", "63"},    {"grh.sgid", "fe80::b"},
                           {"grh.dgid", "fe80::a"}, {"bth.destqp", "0xabcdef"},
                           {"eth.dst", "-"}};
  const Bytes packet = send_of(12, true);
  for (const Row& row : kRows) BOOST_TEST(text_in(packet, row.field) == row.value, row.field);
}

BOOST_AUTO_TEST_CASE(a_packet_is_told_in_words) {
  const Bytes packet = send_of(5);
  const Dissection result = dissect_packet(packet);
  BOOST_TEST(names_of(result) == "lrh bth payload pad icrc vcrc");
  BOOST_TEST(summary(result) == "RC Send Only PSN=9991764 QP=0xabcdef 5 bytes AckReq SE");
  const auto tree = tree_of(result);
  BOOST_TEST(tree.front().title == "Local route header: LID 2 to LID 5, SL 3, VL 1");
  BOOST_TEST(tree[4].title == "Invariant CRC: right");
  BOOST_TEST(tree[5].title == "Variant CRC: right");
  BOOST_TEST(address_text(source_of(result.network())) == "LID 2");
  BOOST_TEST(address_text(destination_of(result.network())) == "LID 5");
  BOOST_TEST(lid_text(wire::Lid{0xC001}) == "MLID 0xc001");
  BOOST_TEST(lid_text(wire::kPermissiveLid) == "LID 65535");
}

BOOST_AUTO_TEST_CASE(each_crc_is_judged_by_itself) {
  const Bytes right = send_of(8);
  Bytes damaged = right;
  damaged[24] ^= std::byte{1};
  Dissection result = dissect_packet(damaged);
  BOOST_TEST((result.vcrc() == CrcCheck::wrong && result.icrc() == CrcCheck::wrong));
  BOOST_TEST(summary(result).ends_with(" (VCRC is wrong)"));
  BOOST_TEST(result.right_vcrc() == wire::load_be16(&with_variant_crc(damaged)[damaged.size() - 2]));
  // Damaged within a device: the link it leaves by makes a VCRC that fits.
  const Bytes on_next_link = with_variant_crc(damaged);
  result = dissect_packet(on_next_link);
  BOOST_TEST((result.vcrc() == CrcCheck::right && result.icrc() == CrcCheck::wrong));
  BOOST_TEST((result.verdict() == ParseError::bad_icrc));
  BOOST_TEST(tree_of(result)[3].fields.back().label == "Right would be");
  // On another lane the ICRC stays.
  Bytes moved = right;
  moved[0] = std::byte{0x20};
  result = dissect_packet(moved);
  BOOST_TEST((result.vcrc() == CrcCheck::wrong && result.icrc() == CrcCheck::right));
  const Bytes finished = with_variant_crc(moved);
  BOOST_TEST((dissect_packet(finished).verdict() == ParseError::none));
}

BOOST_AUTO_TEST_CASE(a_capture_may_lack_the_variant_crc) {
  Bytes packet = send_of(8, true);
  packet.resize(packet.size() - 2);
  const Dissection result = dissect_packet(packet);
  BOOST_TEST((result.verdict() == ParseError::none));
  BOOST_TEST((result.icrc() == CrcCheck::right && result.vcrc() == CrcCheck::not_checked));
  BOOST_TEST(names_of(result) == "lrh grh bth payload icrc");
}

BOOST_AUTO_TEST_CASE(a_cut_packet_shows_what_is_there) {
  for (const bool with_grh : {false, true}) {
    const Bytes packet = send_of(60, with_grh);
    const std::size_t bth_end = 20 + (with_grh ? 40 : 0);
    for (std::size_t size = 0; size < packet.size(); ++size) {
      const Dissection result =
          dissect(std::span(packet).first(size), packet.size(), wire::LinkLayer::infiniband);
      BOOST_TEST_CONTEXT(size << " bytes") {
        BOOST_TEST(result.is_cut());
        BOOST_TEST(result.has_bth() == (size >= bth_end));
        // The VCRC alone may be missing.
        const bool is_whole = size >= packet.size() - 2;
        BOOST_TEST((result.verdict() == ParseError::none) == is_whole);
        BOOST_TEST((result.vcrc() == CrcCheck::not_checked));
        BOOST_TEST((size < 8 || result.network().local->source == wire::Lid{2}));
        if (result.has_bth()) BOOST_TEST(result.payload_bytes() == 60u);
        if (result.has_bth() && !is_whole) BOOST_TEST(summary(result).ends_with("(captured in part)"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_length_is_trusted) {
  for (const bool with_grh : {false, true}) {
    const Bytes right = send_of(20, with_grh);
    for (unsigned words = 0; words < 0x800; ++words) {
      Bytes packet = right;
      wire::store_be16(&packet[4], static_cast<std::uint16_t>(words));
      if (words * 4 + 2 == packet.size() || words * 4 == packet.size()) continue;
      const Dissection result = dissect_packet(packet);
      BOOST_TEST((result.verdict() == ParseError::truncated), words);
      for (const PlacedHeader& placed : result.headers())
        BOOST_TEST(placed.offset + placed.bytes <= packet.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(other_packets_have_no_transport_header) {
  struct Row {
    bool with_grh;
    std::size_t at;
    std::uint8_t byte;
    const char* headers;
  };
  constexpr Row kRows[] = {{false, 0, 0x31, "lrh vcrc"},       // link version 1
                           {false, 1, 0x30, "lrh vcrc"},       // raw
                           {false, 1, 0x31, "lrh vcrc"},       // raw IPv6
                           {true, 14, 0x11, "lrh grh vcrc"}};  // UDP behind the GRH
  for (const Row& row : kRows) {
    Bytes packet = send_of(60, row.with_grh);
    packet[row.at] = std::byte{row.byte};
    packet = with_variant_crc(packet);
    const Dissection result = dissect_packet(packet);
    BOOST_TEST_CONTEXT("byte " << row.at) {
      BOOST_TEST(!result.has_bth());
      BOOST_TEST((result.verdict() == ParseError::raw_packet));
      BOOST_TEST(names_of(result) == row.headers);
      BOOST_TEST(summary(result).starts_with("no transport header: "));
    }
  }
  const Bytes nothing;
  BOOST_TEST(!dissect_packet(nothing).has_bth());
}

BOOST_AUTO_TEST_CASE(subnet_management_is_told_in_words) {
  const Bytes directed = subnet_management_packet(true);
  BOOST_TEST(names_of(dissect_packet(directed)) == "lrh bth deth mad smpdirected icrc vcrc");
  BOOST_TEST(summary(dissect_packet(directed)) ==
             "UD Send Only PSN=0 QP=0x0 SrcQP=0x0 QKey=0x0 SubnGet(NodeInfo) Path=1,3 Hop=1/2 "
             "TID=0x1122334455667788 256 bytes");
  BOOST_TEST(text_in(directed, "smpdirected.mkey") == "0xa1a2a3a4a5a6a7a8");
  BOOST_TEST(text_in(directed, "smpdirected.drslid") == "65535");
  BOOST_TEST(text_in(directed, "smpdirected.initialpath").starts_with("00 01 03 00"));
  BOOST_TEST(text_in(directed, "lrh.vl") == "15");
  const Bytes routed = subnet_management_packet(false);
  BOOST_TEST(names_of(dissect_packet(routed)) == "lrh bth deth mad smplid icrc vcrc");
  BOOST_TEST(summary(dissect_packet(routed)) ==
             "UD Send Only PSN=0 QP=0x0 SrcQP=0x0 QKey=0x0 SubnGet(PortInfo) Modifier=0x7 "
             "TID=0x1122334455667788 256 bytes");
  // QP 0 is of InfiniBand only.
  wire::NetworkHeaders ethernet = wire::test::ipv4_network();
  const Dissection there = dissect_packet(routed);
  wire::FrameStorage storage;
  const Bytes frame = wire::test::join(wire::encode(ethernet, there.transport(), there.payload(), storage));
  BOOST_TEST(names_of(dissect(frame)) == "eth ip udp bth deth payload icrc");
}

BOOST_AUTO_TEST_CASE(other_management_is_told_in_words) {
  using wire::mad::RmppStatus;
  using wire::mad::RmppType;
  constexpr std::uint8_t kAdministration = 3;
  struct Row {
    GeneralDatagram datagram;
    const char* headers;
    const char* words;
  };
  const Row rows[] = {
      {{kAdministration, 0x01, 0x35}, "rmpp sa payload", "SubnAdmGet(PathRecord)"},
      {{kAdministration, 0x12, 0x11}, "rmpp sa payload", "SubnAdmGetTable(NodeRecord)"},
      {{kAdministration, 0x92, 0x11, {1, RmppType::data, 0, false, true, true, {}, 1, 432}},
       "rmpp sa payload",
       "SubnAdmGetTableResp(NodeRecord) RMPP=DATA,1"},
      {{kAdministration, 0x92, 0x11, {1, RmppType::data, 0, true, false, true, {}, 3, 100}},
       "rmpp sa payload",
       "SubnAdmGetTableResp(NodeRecord) RMPP=DATA,3,last"},
      {{kAdministration, 0x12, 0x11, {1, RmppType::acknowledgement, 0, false, false, true, {}, 2, 66}},
       "rmpp sa payload",
       "SubnAdmGetTable(NodeRecord) RMPP=ACK,2 Window=66"},
      {{kAdministration, 0x12, 0x11, {1, RmppType::stop, 0, false, false, true, RmppStatus{1}, 2, 66}},
       "rmpp sa payload",
       "SubnAdmGetTable(NodeRecord) RMPP=STOP Reason=1"},
      {{kAdministration, 0x12, 0x11, {1, RmppType::abort, 0, false, false, true, RmppStatus{126}, 2, 66}},
       "rmpp sa payload",
       "SubnAdmGetTable(NodeRecord) RMPP=ABORT Reason=126"},
      {{kAdministration, 0x01, 0x01}, "rmpp sa payload", "SubnAdmGet(ClassPortInfo)"},
      {{0x04, 0x01, 0x12}, "payload", "PerformanceGet(PortCounters)"},
      {{0x04, 0x02, 0x1D}, "payload", "PerformanceSet(PortCountersExtended)"},
      {{0x04, 0x01, 0x01}, "payload", "PerformanceGet(ClassPortInfo)"},
      {{0x07, 0x01, 0x01}, "payload", "ComMgtGet(ClassPortInfo)"},
      {{0x32, 0x81, 0x00}, "rmpp vendor payload", "VendorGetResp(0x0) OUI=0x001405"},
      {{0x09, 0x41, 0x07}, "payload", "Vendor0x41(0x7)"},
      {{0x21, 0x01, 0x15}, "payload", "class 0x21 Get(0x15)"},
  };
  for (const Row& row : rows) {
    const Bytes packet = general_management_packet(row.datagram);
    BOOST_TEST_CONTEXT(row.words) {
      BOOST_TEST(names_of(dissect_packet(packet)) ==
                 std::string("lrh bth deth mad ") + row.headers + " icrc vcrc");
      BOOST_TEST(summary(dissect_packet(packet)) ==
                 std::string("UD Send Only PSN=0 QP=0x1 SrcQP=0x1 QKey=0x80010000 ") + row.words +
                     " TID=0x7 256 bytes");
    }
  }
}

BOOST_AUTO_TEST_CASE(fields_that_are_set_take_the_rest_with_them) {
  for (const bool with_grh : {false, true}) {
    EditedFrame edited(send_of(8, with_grh), wire::LinkLayer::infiniband);
    edited.set("lrh.dlid", "9");
    edited.set("bth.psn", "77");
    const Bytes packet = edited.finish();
    const Dissection result = dissect_packet(packet);
    BOOST_TEST((result.verdict() == ParseError::none && result.vcrc() == CrcCheck::right));
    BOOST_TEST(result.network().local->destination.value == 9);
    edited.set("vcrc", "0x1234");
    edited.set("lrh.pktlen", "3");
    BOOST_TEST(text_in(edited.finish(), "lrh.pktlen") == "3");
    BOOST_TEST(wire::load_be16(&edited.finish().back() - 1) == 0x1234);
  }
}

// Packets between two ports, and the connections that are seen in them.
class Fabric {
 public:
  // From LID 2 to LID 5, or back.
  void put(const wire::TransportHeaders& transport, std::span<const std::byte> payload, bool back,
           bool with_grh = false) {
    wire::NetworkHeaders network = infiniband_network(with_grh);
    if (back) {
      std::swap(network.local->source, network.local->destination);
      std::swap(network.source, network.destination);
    }
    record(on_link(network, transport, payload));
  }
  void put(Operation operation, std::uint32_t psn, std::uint32_t qp, bool back, bool fecn = false) {
    wire::TransportHeaders transport;
    transport.bth.opcode = Opcode(Service::rc, operation);
    transport.bth.psn = wire::Psn{psn};
    transport.bth.destination = wire::Qpn{qp};
    transport.bth.fecn = fecn;
    transport.aeth.syndrome = 0x1F;
    put(transport, {}, back);
  }
  void record(const Bytes& packet, std::uint32_t interface = 0) {
    tracker.add({.number = ++number_,
                 .nanoseconds = static_cast<std::int64_t>(number_) * 1000,
                 .interface = interface,
                 .original_bytes = static_cast<std::uint32_t>(packet.size()),
                 .bytes = packet,
                 .link_layer = wire::LinkLayer::infiniband,
                 .comment = {}},
                interfaces);
  }
  const Packet& packet(FrameNumber number) const { return *tracker.packet(number); }

  FlowTracker tracker;
  std::vector<CaptureInterface> interfaces{named_interface("", "", LinkType::erf)};

 private:
  FrameNumber number_ = 0;
};

BOOST_AUTO_TEST_CASE(connections_are_between_lids) {
  Fabric fabric;
  fabric.put(Operation::send_only, 11, 0x22, false);
  fabric.put(Operation::acknowledge, 11, 0x11, true);
  fabric.put(Operation::send_only, 12, 0x22, false, true);
  const auto connections = connections_of(fabric.tracker);
  BOOST_REQUIRE(connections.size() == 1u);
  BOOST_TEST(left_end(fabric.tracker, connections[0]) == "LID 2 QP 0x11");
  BOOST_TEST(right_end(fabric.tracker, connections[0]) == "LID 5 QP 0x22");
  BOOST_TEST((fabric.packet(1).fate == Fate::acknowledged));
  BOOST_TEST(!fabric.packet(1).congestion);
  BOOST_TEST(fabric.packet(3).congestion);
}

// One QP number at two ports; the packets have no GIDs that would tell them apart.
BOOST_AUTO_TEST_CASE(lids_tell_flows_apart) {
  Fabric fabric;
  wire::TransportHeaders transport = transport_for(Opcode(Service::rc, Operation::send_only));
  for (const auto lid : std::to_array<std::uint16_t>({5, 6, 5})) {
    wire::NetworkHeaders network = infiniband_network();
    network.local->destination.value = lid;
    fabric.record(on_link(network, transport, 4));
  }
  BOOST_TEST(fabric.tracker.flows().size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_connection_manager_names_both_ends) {
  namespace mad = wire::mad;
  Fabric fabric;
  mad::Req request;
  request.local_id = {0x77};
  request.local_qpn = wire::Qpn{0x11};
  mad::Rep reply;
  reply.remote_id = {0x77};
  reply.local_qpn = wire::Qpn{0x22};
  wire::TransportHeaders transport;
  transport.bth.opcode = Opcode(Service::ud, Operation::send_only);
  transport.bth.destination = wire::Qpn{1};
  transport.deth = {.qkey = 0x80010000, .source = wire::Qpn{1}};
  fabric.put(transport, mad::encode(request, {1}), false);
  fabric.put(transport, mad::encode(reply, {1}), true);
  fabric.put(Operation::send_only, 11, 0x22, false);
  const Flow& flow = fabric.tracker.flows().back();
  BOOST_TEST((flow.pairing == Pairing::by_cm));
  BOOST_TEST(flow.source_qp.value == 0x11u);
}

BOOST_AUTO_TEST_CASE(a_wrong_variant_crc_makes_a_packet_damaged) {
  Fabric fabric;
  Bytes packet = send_of(8);
  packet.back() ^= std::byte{1};
  fabric.record(packet);
  BOOST_TEST((fabric.packet(1).fate == Fate::damaged));
}

BOOST_AUTO_TEST_CASE(records_at_several_points_are_one_packet) {
  Fabric fabric;
  fabric.interfaces = {named_interface("urnic0/before", "", LinkType::erf),
                       named_interface("urnic1/after", "", LinkType::erf)};
  Bytes packet = send_of(8);
  fabric.record(packet, 0);
  packet[0] = std::byte{0x40};  // the switch has chosen another lane
  fabric.record(with_variant_crc(packet), 1);
  BOOST_TEST(fabric.tracker.packets().end() - fabric.tracker.packets().begin() == 1u);
  BOOST_TEST((fabric.packet(1).fate == Fate::arrived));
}

BOOST_AUTO_TEST_CASE(ports_without_lids_are_an_end_like_others) {
  Fabric fabric;
  fabric.record(subnet_management_packet(true));
  fabric.record(subnet_management_packet(true));
  const auto connections = connections_of(fabric.tracker);
  BOOST_REQUIRE(connections.size() == 1u);
  BOOST_TEST(connections[0].packets == 2u);
  BOOST_TEST(left_end(fabric.tracker, connections[0]) == "LID 65535 QP 0x0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace infiniband
}  // namespace urnic::analysis::test
