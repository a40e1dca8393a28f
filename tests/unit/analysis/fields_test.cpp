// The tables of fields: sound in themselves, and the same as the codecs of `wire`.
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/edited_frame.hpp"
#include "analysis/dissection/field_value.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "tests/unit/analysis/documented_field.hpp"
#include "tests/unit/wire/sample_frames.hpp"
#include "wire/mad/cm_messages.hpp"
#include "wire/mad/ip_cm_header.hpp"

namespace urnic::analysis::test {
namespace {

namespace mad = wire::mad;
using wire::Opcode;
using wire::Operation;
using wire::Service;
using wire::test::Bytes;
using wire::test::encoded;
using wire::test::ipv4_network;
using wire::test::ipv6_network;
using wire::test::transport_for;

// The field's value in the frame as text; "-" if the frame does not have it.
std::string text_in(const Bytes& frame, const char* name) {
  const Dissection dissection = dissect(frame);
  const auto placed = dissection.find(name);
  return placed ? value_text(*placed->field, read_value(*placed, frame)) : "-";
}

struct Row {
  const char* field;
  const char* value;
};

BOOST_AUTO_TEST_SUITE(fields)

BOOST_AUTO_TEST_CASE(every_table_is_sound) {
  std::set<std::string> names;
  for (const Header* header : all_headers()) {
    std::vector<bool> taken(header->bytes * 8);
    for (const Field& field : header->fields) {
      BOOST_TEST_CONTEXT(field.name) {
        BOOST_TEST(names.insert(field.name).second);
        const std::string prefix = std::string(header->name) + ".";
        BOOST_TEST((std::string(field.name) == header->name || std::string(field.name).starts_with(prefix)));
        if (field.width == kToTheEnd) {
          BOOST_TEST(header->bytes == 0);
          continue;
        }
        BOOST_TEST(field.first_bit + field.width <= header->bytes * 8);
        if (is_number(field.kind)) BOOST_TEST(field.width <= 64);
        if (!is_number(field.kind)) BOOST_TEST((field.first_bit % 8 == 0 && field.width % 8 == 0));
        if (field.kind == FieldKind::flag) BOOST_TEST(field.width == 1);
        for (std::size_t bit = field.first_bit; !field.part && bit < field.first_bit + field.width; ++bit) {
          BOOST_TEST(!taken[bit]);
          taken[bit] = true;
        }
      }
    }
  }
}

// Where a header of the specification has no gap, the table has none, either.
BOOST_AUTO_TEST_CASE(transport_and_network_headers_have_no_gap) {
  for (const Header* header : all_headers()) {
    const std::string name = header->name;
    if (name.starts_with("cm.") || name == "mad" || header->bytes == 0) continue;
    std::vector<bool> taken(header->bytes * 8);
    for (const Field& field : header->fields)
      for (std::size_t bit = field.first_bit; bit < field.first_bit + field.width; ++bit) taken[bit] = true;
    BOOST_TEST_CONTEXT(name) { BOOST_TEST((std::find(taken.begin(), taken.end(), false) == taken.end())); }
  }
}

// sample_frames.hpp gives each member of each header a value of its own.
BOOST_AUTO_TEST_CASE(fields_are_those_that_the_codecs_write) {
  const Bytes atomic =
      encoded(ipv4_network(), transport_for(Opcode(Service::xrc, Operation::compare_swap)), 0);
  const Row atomic_rows[] = {{"eth.dst", "02:00:00:00:00:0a"},
                             {"eth.src", "02:00:00:00:00:0b"},
                             {"eth.type", "0x0800"},
                             {"ip.version", "4"},
                             {"ip.hdr_len", "5"},
                             {"ip.dscp", "26"},
                             {"ip.ecn", "2"},
                             {"ip.len", "76"},
                             {"ip.id", "0x1234"},
                             {"ip.df", "1"},
                             {"ip.ttl", "63"},
                             {"ip.proto", "17"},
                             {"ip.src", "192.0.2.2"},
                             {"ip.dst", "192.0.2.1"},
                             {"udp.srcport", "49443"},
                             {"udp.dstport", "4791"},
                             {"udp.length", "56"},
                             {"udp.checksum", "0x0000"},
                             {"bth.opcode", "179"},
                             {"bth.se", "1"},
                             {"bth.migreq", "0"},
                             {"bth.padcnt", "0"},
                             {"bth.tver", "0"},
                             {"bth.pkey", "0x8001"},
                             {"bth.fecn", "1"},
                             {"bth.becn", "0"},
                             {"bth.reserved6", "45"},
                             {"bth.destqp", "0xabcdef"},
                             {"bth.ackreq", "1"},
                             {"bth.reserved7", "106"},
                             {"bth.psn", "9991764"},
                             {"xrceth.reserved", "165"},
                             {"xrceth.srqn", "0x654321"},
                             {"atomiceth.va", "0x8877665544332211"},
                             {"atomiceth.rkey", "0xccbbaa99"},
                             {"atomiceth.swapdt", "72623859790382856"},
                             {"atomiceth.cmpdt", "1230066625199609624"},
                             {"reth.va", "-"},
                             {"payload", "-"}};
  for (const Row& row : atomic_rows) BOOST_TEST(text_in(atomic, row.field) == row.value, row.field);

  const Bytes write =
      encoded(ipv6_network(), transport_for(Opcode(Service::rc, Operation::write_only_immediate)), 5);
  const Row write_rows[] = {{"ipv6.version", "6"},
                            {"ipv6.dscp", "26"},
                            {"ipv6.ecn", "2"},
                            {"ipv6.flow", "0xabcde"},
                            {"ipv6.plen", "52"},
                            {"ipv6.nxt", "17"},
                            {"ipv6.hlim", "63"},
                            {"ipv6.src", "fe80::ff:fe00:2"},
                            {"ipv6.dst", "fe80::ff:fe00:1"},
                            {"reth.va", "0x1122334455667788"},
                            {"reth.rkey", "0x99aabbcc"},
                            {"reth.dmalen", "3723427584"},
                            {"immdt", "0x51525354"},
                            {"payload", "01 08 0f 16 1d"},
                            {"bth.padcnt", "3"},
                            {"pad", "00 00 00"},
                            {"ip.src", "-"}};
  for (const Row& row : write_rows) BOOST_TEST(text_in(write, row.field) == row.value, row.field);

  const Bytes answer =
      encoded(ipv4_network(), transport_for(Opcode(Service::rc, Operation::atomic_acknowledge)), 0);
  BOOST_TEST(text_in(answer, "aeth.syndrome") == "0x1f");
  BOOST_TEST(text_in(answer, "aeth.kind") == "0");
  BOOST_TEST(text_in(answer, "aeth.code") == "31");
  BOOST_TEST(text_in(answer, "aeth.msn") == "3224115");
  BOOST_TEST(text_in(answer, "atomicacketh.origremdt") == "4702394921427289928");

  const Bytes datagram = encoded(ipv4_network(), transport_for(Opcode(Service::ud, Operation::send_only)), 4);
  BOOST_TEST(text_in(datagram, "deth.qkey") == "0x80010000");
  BOOST_TEST(text_in(datagram, "deth.reserved") == "90");
  BOOST_TEST(text_in(datagram, "deth.srcqp") == "0x123456");

  const Bytes invalidate =
      encoded(ipv4_network(), transport_for(Opcode(Service::rc, Operation::send_only_invalidate)), 4);
  BOOST_TEST(text_in(invalidate, "ieth.rkey") == "0x61626364");

  const Bytes selective = encoded(ipv4_network(), wire::test::selective_nak(), 0);
  BOOST_TEST(text_in(selective, "sack.reserved") == "0x71");
  BOOST_TEST(text_in(selective, "sack.latest") == "7500660");
  BOOST_TEST(text_in(selective, "sack.earlier") == "0x8182838485868788");
  const Bytes offer = encoded(ipv4_network(), transport_for(wire::kSelectiveAckOffer), 0);
  BOOST_TEST(text_in(offer, "offer.reads") == "1");
  BOOST_TEST(text_in(offer, "offer.gives") == "0");
  BOOST_TEST(text_in(offer, "offer.wants_answer") == "0");
  BOOST_TEST(text_in(offer, "sack.latest") == "-");

  const Bytes congestion = encoded(ipv4_network(), transport_for(wire::kCongestionNotification), 16);
  BOOST_TEST(text_in(congestion, "cnp.reserved") == "01 08 0f 16 1d 24 2b 32 39 40 47 4e 55 5c 63 6a");
}

template <class Message>
Bytes datagram_with(const Message& message) {
  wire::TransportHeaders headers = transport_for(Opcode(Service::ud, Operation::send_only));
  headers.bth.destination = wire::Qpn{1};
  const mad::Mad datagram = mad::encode(message, {0x0102030405060708});
  wire::FrameStorage storage;
  return wire::test::join(wire::encode(ipv4_network(), headers, datagram, storage));
}

// The names are in the order of the layout's fields.
BOOST_AUTO_TEST_CASE(names_of_cm_fields_belong_to_their_members) {
  mad::Req req;
  req.local_id = {0x11223344};
  req.ece.vendor_id = 0x001405;
  req.service = mad::service_id({mad::PortSpace::tcp, 7174});
  req.local_ca_guid = {0x0807060504030201};
  req.local_qpn = wire::Qpn{0x123456};
  req.responder_resources = 7;
  req.initiator_depth = 9;
  req.remote_cm_response_timeout = {20};
  req.transport_service = mad::TransportService::uc;
  req.end_to_end_flow_control = true;
  req.starting_psn = wire::Psn{0xABCDEF};
  req.local_cm_response_timeout = {21};
  req.retry_count = 5;
  req.pkey = wire::Pkey{0x8002};
  req.path_mtu = mad::MtuCode::bytes_2048;
  req.rnr_retry_count = 6;
  req.max_cm_retries = 15;
  req.srq = true;
  req.primary.local_gid = ipv4_network().source;
  req.primary.remote_gid = ipv4_network().destination;
  req.primary.hop_limit = 64;
  req.primary.service_level = 3;
  req.primary.local_ack_timeout = {14};
  req.alternate.traffic_class = 0x99;
  mad::encode(mad::IpCmHeader{mad::IpVersion::v4, 40000, ipv4_network().source, ipv4_network().destination},
              req.private_data);
  const Row req_rows[] = {{"mad.mgmtclass", "0x07"},
                          {"mad.attributeid", "0x0010"},
                          {"mad.transactionid", "0x0102030405060708"},
                          {"cm.req.localcommid", "0x11223344"},
                          {"cm.req.vendorid", "0x001405"},
                          {"cm.req.serviceid", "0x0000000001061c06"},
                          {"cm.req.localcaguid", "0x0807060504030201"},
                          {"cm.req.localqpn", "0x123456"},
                          {"cm.req.responderres", "7"},
                          {"cm.req.initdepth", "9"},
                          {"cm.req.remoteresptout", "20"},
                          {"cm.req.transpsvctype", "1"},
                          {"cm.req.e2eflowctrl", "1"},
                          {"cm.req.startpsn", "11259375"},
                          {"cm.req.localresptout", "21"},
                          {"cm.req.retrcount", "5"},
                          {"cm.req.pkey", "0x8002"},
                          {"cm.req.pppmtu", "4"},
                          {"cm.req.rdcexist", "0"},
                          {"cm.req.rnrretrcount", "6"},
                          {"cm.req.maxcmretr", "15"},
                          {"cm.req.srq", "1"},
                          {"cm.req.ext_transport", "0"},
                          {"cm.req.prim_localgid", "::ffff:192.0.2.2"},
                          {"cm.req.prim_remotegid", "::ffff:192.0.2.1"},
                          {"cm.req.prim_hoplim", "64"},
                          {"cm.req.prim_sl", "3"},
                          {"cm.req.prim_localacktout", "14"},
                          {"cm.req.alt_tfcclass", "0x99"},
                          {"ip_cm.ipv", "4"},
                          {"ip_cm.sport", "40000"},
                          {"ip_cm.sip", "::192.0.2.2"}};
  const Bytes request = datagram_with(req);
  for (const Row& row : req_rows) BOOST_TEST(text_in(request, row.field) == row.value, row.field);

  mad::Rep rep;
  rep.local_id = {1};
  rep.remote_id = {2};
  rep.local_qpn = wire::Qpn{0x654321};
  rep.ece.vendor_id = 0xAABBCC;
  rep.starting_psn = wire::Psn{77};
  rep.target_ack_delay = {11};
  rep.rnr_retry_count = 7;
  const Row rep_rows[] = {{"cm.rep.localcommid", "0x00000001"},
                          {"cm.rep.remotecommid", "0x00000002"},
                          {"cm.rep.localqpn", "0x654321"},
                          {"cm.rep.vendorid_high", "0xaa"},
                          {"cm.rep.vendorid_middle", "0xbb"},
                          {"cm.rep.vendorid_low", "0xcc"},
                          {"cm.rep.startpsn", "77"},
                          {"cm.rep.tgtackdelay", "11"},
                          {"cm.rep.rnrretrcount", "7"}};
  const Bytes reply = datagram_with(rep);
  for (const Row& row : rep_rows) BOOST_TEST(text_in(reply, row.field) == row.value, row.field);

  mad::Rej rej;
  rej.rejected = mad::RejectedMessage::rep;
  rej.reason = mad::RejectReason::consumer;
  rej.information.length = 3;
  const Bytes reject = datagram_with(rej);
  BOOST_TEST(text_in(reject, "cm.rej.msgrej") == "1");
  BOOST_TEST(text_in(reject, "cm.rej.reason") == "28");
  BOOST_TEST(text_in(reject, "cm.rej.rejinfolen") == "3");

  mad::Mra mra;
  mra.acknowledged = mad::AcknowledgedMessage::rep;
  mra.service_timeout = {19};
  const Bytes wait = datagram_with(mra);
  BOOST_TEST(text_in(wait, "cm.mra.msgmraed") == "1");
  BOOST_TEST(text_in(wait, "cm.mra.servicetout") == "19");

  mad::SidrRep sidr;
  sidr.status = mad::SidrStatus::no_qp;
  sidr.qpn = wire::Qpn{0x111};
  sidr.qkey = {0x222};
  const Bytes resolved = datagram_with(sidr);
  BOOST_TEST(text_in(resolved, "cm.sidrrep.status") == "3");
  BOOST_TEST(text_in(resolved, "cm.sidrrep.qpn") == "0x000111");
  BOOST_TEST(text_in(resolved, "cm.sidrrep.qkey") == "0x00000222");

  mad::Lap lap;
  lap.remote_qpn = wire::Qpn{0x321};
  lap.alternate.hop_limit = 5;
  lap.alternate.local_ack_timeout = {12};
  const Bytes alternate = datagram_with(lap);
  BOOST_TEST(text_in(alternate, "cm.lap.remoteqpn") == "0x000321");
  BOOST_TEST(text_in(alternate, "cm.lap.alt_hoplim") == "5");
  BOOST_TEST(text_in(alternate, "cm.lap.alt_localacktout") == "12");

  mad::Dreq dreq;
  dreq.remote_qpn = wire::Qpn{0x99};
  BOOST_TEST(text_in(datagram_with(dreq), "cm.dreq.remoteqpn") == "0x000099");
  mad::Apr apr;
  apr.status = mad::AprStatus::rejected;
  BOOST_TEST(text_in(datagram_with(apr), "cm.apr.status") == "3");
}

BOOST_AUTO_TEST_CASE(the_document_lists_every_field) {
  std::ifstream file(URNIC_DOCS_DIR "/fields.md");
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(line);
  for (const Header* header : all_headers())
    for (const Field& field : header->fields)
      BOOST_TEST(lines.count(documented(field)) == 1u, documented(field));
}

// What a person may write for each field is what value_text writes, and more.
BOOST_AUTO_TEST_CASE(every_value_is_read_back_from_its_text) {
  for (const Header* header : all_headers()) {
    for (const Field& field : header->fields) {
      Bytes frame(512);
      const std::size_t width = field.width == kToTheEnd ? 24 : field.width;
      const PlacedField placed{&field, field.first_bit, width};
      for (int fill : {0x00, 0xFF, 0xA7}) {
        std::fill(frame.begin(), frame.end(), static_cast<std::byte>(fill));
        const FieldValue value = read_value(placed, frame);
        BOOST_TEST_CONTEXT(field.name << " " << value_text(field, value)) {
          BOOST_TEST((parse_value(field, value_text(field, value)) == value));
          Bytes other(512, static_cast<std::byte>(~fill));
          write_value(placed, other, value);
          BOOST_TEST((read_value(placed, other) == value));
          // Nothing else has changed.
          for (std::size_t bit = 0; bit < 512 * 8; ++bit) {
            const bool is_set = (std::to_integer<unsigned>(other[bit / 8]) >> (7 - bit % 8) & 1) != 0;
            const bool was_set = (static_cast<unsigned>(~fill) >> (7 - bit % 8) & 1) != 0;
            const bool inside = bit >= placed.first_bit && bit < placed.first_bit + placed.width;
            if (!inside && is_set != was_set) BOOST_ERROR("bit " << bit << " has changed");
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_are_written_in_several_ways) {
  struct Written {
    const char* field;
    const char* text;
    std::uint64_t number;
  };
  const Written rows[] = {{"bth.opcode", "RC Send Only", 4},
                          {"bth.opcode", "rc acknowledge", 0x11},
                          {"bth.opcode", "0x11", 0x11},
                          {"bth.psn", "16777215", 16777215},
                          {"bth.ackreq", "true", 1},
                          {"bth.ackreq", "False", 0},
                          {"aeth.syndrome", "NAK, PSN sequence error", 0x60},
                          {"ip.ecn", "CE", 3},
                          {"aeth.kind", "RNR NAK", 1},
                          {"cm.rej.reason", "stale connection", 10}};
  for (const Written& row : rows)
    BOOST_TEST(parse_value(*field_or_fail(row.field).field, row.text).number == row.number, row.text);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_value_is_said) {
  struct Wrong {
    const char* field;
    const char* text;
    const char* error;
  };
  const Wrong rows[] = {
      {"bth.psn", "16777216", "bth.psn = 16777216: allowed is a whole number from 0 to 16777215"},
      {"bth.psn", "", "bth.psn = : allowed is a whole number from 0 to 16777215"},
      {"bth.psn", "-1", "bth.psn = -1: allowed is a whole number from 0 to 16777215"},
      {"bth.ackreq", "2", "bth.ackreq = 2: allowed is 0, 1, true or false"},
      {"bth.opcode", "RC Sent",
       "bth.opcode = RC Sent: allowed is a whole number from 0 to 255, or its meaning in words"},
      {"ip.src", "192.0.2", "ip.src = 192.0.2: allowed is an IPv4 address"},
      {"ipv6.src", "x", "ipv6.src = x: allowed is an IPv6 address"},
      {"eth.src", "02:00", "eth.src = 02:00: allowed is 6 bytes in hexadecimal digits"},
      {"payload", "abc", "payload = abc: allowed is pairs of hexadecimal digits"},
  };
  for (const Wrong& row : rows) {
    BOOST_CHECK_EXCEPTION(parse_value(*field_or_fail(row.field).field, row.text), FieldError,
                          [&](const FieldError& error) {
                            BOOST_TEST(error.what() == row.error);
                            return true;
                          });
  }
  BOOST_CHECK_EXCEPTION(field_or_fail("aeth.sindrome"), FieldError, [](const FieldError& error) {
    return std::string(error.what()) ==
           "there is no field aeth.sindrome; fields of aeth: aeth.syndrome, aeth.kind, aeth.code, aeth.msn";
  });
  BOOST_CHECK_EXCEPTION(field_or_fail("nothing"), FieldError, [](const FieldError& error) {
    return std::string(error.what())
        .starts_with("there is no field nothing; headers: eth, vlan, ip, ipv6, udp, lrh, grh, bth");
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
