// Frames of every opcode, on both IP versions, with VLAN tags, cut, damaged; frames whose fields are set.
#include "analysis/dissection/dissection.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

#include "analysis/dissection/edited_frame.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/dissection/selective_ack_ranges.hpp"
#include "tests/unit/wire/sample_frames.hpp"

namespace urnic::analysis::test {
namespace {

using wire::Opcode;
using wire::Operation;
using wire::ParseError;
using wire::Service;
using wire::test::Bytes;
using wire::test::encoded;
using wire::test::ipv4_network;
using wire::test::ipv4_send;
using wire::test::ipv6_network;
using wire::test::ipv6_send;
using wire::test::transport_for;

std::string headers_of(const Dissection& dissection) {
  std::string names;
  for (const PlacedHeader& placed : dissection.headers())
    names += (names.empty() ? "" : " ") + std::string(placed.header->name);
  return names;
}

Bytes with_vlan_tags(const Bytes& frame, int tags) {
  Bytes tagged(frame.begin(), frame.begin() + 12);
  for (int tag = 0; tag < tags; ++tag) {
    const unsigned type = tag == 0 && tags == 2 ? 0x88A8 : 0x8100;
    for (const unsigned byte : {type >> 8, type & 0xFF, 0x60U, 0x05U + static_cast<unsigned>(tag)})
      tagged.push_back(static_cast<std::byte>(byte));
  }
  tagged.insert(tagged.end(), frame.begin() + 12, frame.end());
  return tagged;
}

BOOST_AUTO_TEST_SUITE(dissection)

BOOST_AUTO_TEST_CASE(every_opcode_has_its_headers_without_a_gap_between) {
  for (unsigned value = 0; value < 256; ++value) {
    const Opcode opcode{static_cast<std::uint8_t>(value)};
    const std::size_t payload = wire::traits(opcode).carries_payload ? 33 : 0;
    for (const auto& network : {ipv4_network(), ipv6_network()}) {
      const Bytes frame = encoded(network, transport_for(opcode), payload);
      const Dissection result = dissect(frame);
      BOOST_TEST_CONTEXT("opcode " << value) {
        BOOST_TEST(result.has_bth());
        BOOST_TEST((result.verdict() ==
                    (wire::traits(opcode).known ? ParseError::none : ParseError::unknown_opcode)));
        BOOST_TEST((result.icrc() == CrcCheck::right));
        BOOST_TEST((result.transport().bth == [&] {
          wire::Bth bth = transport_for(opcode).bth;
          bth.pad = payload == 0 ? 0 : 3;
          return bth;
        }()));
        BOOST_TEST((result.network() == network));
        std::size_t at = 0;
        for (const PlacedHeader& placed : result.headers()) {
          BOOST_TEST(placed.offset == at);
          at += placed.bytes;
        }
        BOOST_TEST(at == frame.size());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(vlan_tags_shift_all_headers) {
  for (const Bytes& frame : {ipv4_send(60), ipv6_send(60)}) {
    for (int tags : {1, 2}) {
      const Bytes tagged = with_vlan_tags(frame, tags);
      const Dissection result = dissect(tagged);
      BOOST_TEST((result.verdict() == ParseError::none));
      BOOST_TEST((result.icrc() == CrcCheck::right));
      BOOST_TEST(result.find(kVlanHeader)->offset == 14u);
      BOOST_TEST((result.network().source_mac == ipv4_network().source_mac));
      BOOST_TEST(result.payload().size() == 60u);
      const auto id = result.find("vlan.id");
      BOOST_REQUIRE(id.has_value());
      BOOST_TEST(read_number(*id, tagged) == 5u);
    }
  }
  BOOST_TEST(headers_of(dissect(with_vlan_tags(ipv4_send(4), 2))) == "eth vlan vlan ip udp bth payload icrc");
}

BOOST_AUTO_TEST_CASE(a_frame_that_was_captured_in_part_tells_what_it_has) {
  const Bytes frame = encoded(ipv4_network(), transport_for(Opcode(Service::rc, Operation::write_only)), 100);
  struct Row {
    std::size_t bytes;
    const char* headers;
  };
  const Row rows[] = {{10, ""},
                      {14, "eth"},
                      {33, "eth"},
                      {34, "eth ip"},
                      {42, "eth ip udp"},
                      {53, "eth ip udp"},
                      {54, "eth ip udp bth"},
                      {69, "eth ip udp bth"},
                      {70, "eth ip udp bth reth"},
                      {80, "eth ip udp bth reth payload"},
                      {170, "eth ip udp bth reth payload"},
                      {174, "eth ip udp bth reth payload icrc"}};
  for (const Row& row : rows) {
    const Dissection result = dissect(std::span(frame).first(row.bytes), frame.size());
    BOOST_TEST_CONTEXT(row.bytes) {
      BOOST_TEST(headers_of(result) == row.headers);
      BOOST_TEST(result.is_cut() == (row.bytes < frame.size()));
      BOOST_TEST(
          (result.verdict() == (row.bytes == frame.size() ? ParseError::none : ParseError::truncated)));
      if (row.bytes >= 70) BOOST_TEST(result.payload_bytes() == 100u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_frame_is_shown_and_called_so) {
  for (const Bytes& frame : {ipv4_send(33), ipv6_send(33)}) {
    for (std::size_t bit = 0; bit < frame.size() * 8; ++bit) {
      Bytes damaged = frame;
      damaged[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
      const Dissection result = dissect(damaged);
      wire::ParsedFrame parsed;
      BOOST_TEST((result.verdict() == wire::parse(std::span<const std::byte>(damaged), parsed)),
                 "bit " << bit);
      if (result.verdict() == ParseError::bad_icrc) BOOST_TEST((result.icrc() == CrcCheck::wrong));
    }
  }
}

BOOST_AUTO_TEST_CASE(other_frames_are_not_roce) {
  Bytes arp(60);
  arp[12] = std::byte{0x08};
  arp[13] = std::byte{0x06};
  BOOST_TEST(!dissect(arp).has_bth());
  BOOST_TEST(summary(dissect(arp)) == "not RoCE: Ethernet");
  Bytes dns = ipv4_send(40);
  wire::test::set_be16(dns, wire::test::kUdp4 + 2, 53);
  BOOST_TEST(!dissect(dns).has_bth());
  BOOST_TEST(headers_of(dissect(dns)) == "eth ip udp");
}

BOOST_AUTO_TEST_CASE(fields_that_are_set_take_the_rest_with_them) {
  EditedFrame frame(ipv4_network(), transport_for(Opcode(Service::rc, Operation::write_only)), Bytes(5));
  frame.set("bth.psn", "77");
  frame.set("ip.ttl", "1");
  frame.set("ip.dst", "198.51.100.7");
  frame.set("reth.rkey", "0x1234");
  frame.set_number("bth.ackreq", 0);
  const Dissection result = dissect(frame.finish());
  BOOST_TEST((result.verdict() == ParseError::none));
  BOOST_TEST(result.transport().bth.psn.value() == 77u);
  BOOST_TEST(result.transport().reth.rkey.value == 0x1234u);
  BOOST_TEST(!result.transport().bth.ack_request);
  BOOST_TEST(address_text(result.network().destination) == "198.51.100.7");
}

BOOST_AUTO_TEST_CASE(a_wrong_value_that_was_set_stays) {
  struct Row {
    const char* field;
    const char* value;
    ParseError verdict;
  };
  const Row rows[] = {{"icrc", "0x12345678", ParseError::bad_icrc},
                      {"ip.checksum", "0x1111", ParseError::bad_ip_checksum},
                      {"udp.checksum", "0x1111", ParseError::bad_udp_checksum},
                      {"udp.length", "20", ParseError::truncated},
                      {"bth.tver", "1", ParseError::bad_transport_version},
                      {"bth.opcode", "0xff", ParseError::unknown_opcode}};
  for (const Row& row : rows) {
    EditedFrame frame(ipv4_network(), transport_for(Opcode(Service::rc, Operation::send_only)), Bytes(8));
    frame.set(row.field, row.value);
    BOOST_TEST((dissect(frame.finish()).verdict() == row.verdict), row.field);
  }
}

BOOST_AUTO_TEST_CASE(the_udp_checksum_follows_if_there_is_one) {
  wire::NetworkHeaders network = ipv6_network();
  network.udp_checksum = 1;
  EditedFrame frame(network, transport_for(Opcode(Service::rc, Operation::send_only)), Bytes(8));
  frame.set("bth.psn", "5");
  const Dissection result = dissect(frame.finish());
  BOOST_TEST((result.verdict() == ParseError::none));
  BOOST_TEST(result.network().udp_checksum != 0);
}

BOOST_AUTO_TEST_CASE(a_field_that_the_frame_does_not_have_cannot_be_set) {
  EditedFrame frame(ipv4_network(), transport_for(Opcode(Service::rc, Operation::send_only)), Bytes(8));
  BOOST_TEST(frame.has("bth.psn"));
  BOOST_TEST(!frame.has("reth.va"));
  BOOST_CHECK_EXCEPTION(frame.set("reth.va", "1"), FieldError, [](const FieldError& error) {
    return std::string(error.what()) == "the frame has no header reth, so reth.va cannot be set";
  });
  BOOST_CHECK_THROW(frame.set("payload", "00 01"), FieldError);
}

BOOST_AUTO_TEST_CASE(what_is_shown_of_each_kind) {
  struct Row {
    Opcode opcode;
    const char* text;
  };
  const Row rows[] = {
      {Opcode(Service::rc, Operation::send_only), "RC Send Only PSN=9991764 QP=0xabcdef 4 bytes AckReq SE"},
      {Opcode(Service::rc, Operation::read_request),
       "RC RDMA Read Request PSN=9991764 QP=0xabcdef VA=0x1122334455667788 RKey=0x99aabbcc Len=3723427584 "
       "AckReq SE"},
      {Opcode(Service::xrc, Operation::fetch_add),
       "XRC Fetch Add PSN=9991764 QP=0xabcdef SRQ=0x654321 VA=0x8877665544332211 RKey=0xccbbaa99 AckReq SE"},
      {Opcode(Service::rc, Operation::acknowledge),
       "RC Acknowledge PSN=9991764 QP=0xabcdef MSN=3224115 AckReq SE"},
      {Opcode(Service::ud, Operation::send_only_immediate),
       "UD Send Only Immediate PSN=9991764 QP=0xabcdef SrcQP=0x123456 QKey=0x80010000 Imm=0x51525354 4 bytes "
       "AckReq SE"},
      {Opcode(Service::rc, Operation::send_only_invalidate),
       "RC Send Only Invalidate PSN=9991764 QP=0xabcdef Invalidate=0x61626364 4 bytes AckReq SE"},
  };
  for (const Row& row : rows) {
    const std::size_t payload = wire::traits(row.opcode).carries_payload ? 4 : 0;
    BOOST_TEST(summary(dissect(encoded(ipv4_network(), transport_for(row.opcode), payload))) == row.text);
  }
  BOOST_TEST(syndrome_text(0x1F) == "ACK");
  BOOST_TEST(syndrome_text(0x00) == "ACK, 0 credits");
  BOOST_TEST(syndrome_text(0x21) == "RNR NAK, wait 0.01 ms");
  BOOST_TEST(syndrome_text(0x60) == "NAK, PSN sequence error");
  BOOST_TEST(syndrome_text(0x62) == "NAK, remote access error");
  BOOST_TEST(syndrome_text(0x7F) == "NAK, reserved code 31");
  BOOST_TEST(syndrome_text(0x40) == "reserved syndrome");
}

BOOST_AUTO_TEST_CASE(the_tree_has_every_field_with_its_bits) {
  const Bytes frame = encoded(ipv4_network(), wire::test::selective_nak(), 0);
  const std::vector<HeaderText> tree = tree_of(dissect(frame));
  BOOST_REQUIRE(tree.size() == 7u);
  BOOST_TEST(tree[3].title == "Base transport header: Selective Acknowledge, PSN 9991764, QP 0xabcdef");
  BOOST_TEST(tree[4].title == "ACK extended header: NAK, PSN sequence error");
  BOOST_TEST(tree[5].fields.back().label == "Arrived behind it");
  BOOST_TEST(tree[6].title == "Invariant CRC: right");
  for (const HeaderText& header : tree) {
    for (const FieldText& field : header.fields) {
      if (field.field == nullptr) continue;
      BOOST_TEST(field.first_bit >= header.offset * 8);
      BOOST_TEST(field.first_bit + field.width <= (header.offset + header.bytes) * 8);
    }
  }
}

// As in docs/selective-acks.md, and in the dissector's test.
BOOST_AUTO_TEST_CASE(ranges_of_a_selective_acknowledge) {
  struct Row {
    std::uint32_t missing;
    std::uint32_t latest;
    std::uint64_t earlier;
    const char* ranges;
  };
  const Row rows[] = {{100, 104, 0xFFFFFFFFFFFFFFF5, "101, 103-104"},
                      {16777214, 2, 0xFFFFFFFFFFFFFFF6, "16777215-0, 2"},
                      {100, 500, 0xFFFFFFFFFFFFFFFF, "436-500"},
                      {100, 99, 0xFFFFFFFFFFFFFFFF, ""},
                      {100, 101, 0, "101"}};
  for (const Row& row : rows) {
    const wire::SelectiveAckEth header{.latest = wire::Psn{row.latest}, .earlier = row.earlier};
    BOOST_TEST(ranges_text(selective_ack_ranges(wire::Psn{row.missing}, header)) == row.ranges);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
