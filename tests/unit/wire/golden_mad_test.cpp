// Management datagrams of Linux's connection manager and of its diagnostic programs (tests/golden): decoded,
// encoded again, and read as its authors meant them. Frames are counted from 1, as Wireshark does.
#include <boost/test/unit_test.hpp>
#include <map>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "capture_file.hpp"
#include "mad_samples.hpp"
#include "wire/mad/ip_cm_header.hpp"
#include "wire/mad/performance.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::wire::mad::test {
namespace {

using wire::test::Bytes;

const std::vector<Bytes>& frames() {
  static const std::vector<Bytes> all = wire::test::read_capture(URNIC_GOLDEN_DIR "/soft-roce-cm.pcap");
  return all;
}

struct GoldenMad {
  ParsedFrame frame;
  Mad mad;
  MadHeader header;
};

// The datagrams of the capture by the number of their frame. A frame to another QP than QP1 has none.
std::map<std::size_t, GoldenMad> read_mads() {
  std::map<std::size_t, GoldenMad> mads;
  for (std::size_t at = 0; at < frames().size(); ++at) {
    GoldenMad golden;
    if (parse(std::span<const std::byte>(frames()[at]), golden.frame) != ParseError::none)
      throw std::out_of_range(std::to_string(at + 1));
    if (golden.frame.transport.bth.destination != Qpn{1}) continue;
    if (golden.frame.payload.size() != kMadBytes) throw std::out_of_range(std::to_string(at + 1));
    std::copy_n(golden.frame.payload.begin(), kMadBytes, golden.mad.begin());
    if (decode(golden.mad, golden.header) != MadError::none) throw std::out_of_range(std::to_string(at + 1));
    mads.emplace(at + 1, golden);
  }
  return mads;
}

const std::map<std::size_t, GoldenMad>& mads() {
  static const std::map<std::size_t, GoldenMad> all = read_mads();
  return all;
}

bool is_cm(const GoldenMad& golden) {
  return golden.header.management_class == ManagementClass::communication;
}

template <class Message>
Message message(std::size_t frame) {
  return decoded<Message>(mads().at(frame).mad);
}

IpCmHeader ip_header(std::span<const std::byte> private_data) {
  IpCmHeader header;
  if (decode(private_data, header) != IpCmError::none) throw std::runtime_error("no IP CM header");
  return header;
}

constexpr Gid ipv4(std::uint8_t last) {
  return Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, last}};
}
constexpr Gid ipv6(std::uint8_t last) {
  return Gid{{0xFD, 0, 0xCA, 0xFE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}};
}

template <class Bytes>
std::span<const std::byte> behind_ip_header(const Bytes& private_data) {
  return std::span<const std::byte>(private_data).subspan(kIpCmHeaderBytes);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_mads)

BOOST_AUTO_TEST_CASE(all_frames_are_right_and_mads_are_datagrams_to_qp1) {
  BOOST_TEST(frames().size() == 221u);
  BOOST_TEST(mads().size() == 139u);
  for (const auto& [number, golden] : mads()) {
    BOOST_TEST_CONTEXT("frame " << number) {
      BOOST_TEST(name(golden.frame.transport.bth.opcode) == "UD Send Only");
      BOOST_TEST(golden.frame.transport.deth.qkey == kManagementQkey.value);
      BOOST_TEST(golden.frame.transport.deth.source.value == 1u);
      BOOST_TEST(golden.frame.transport.bth.pkey.value == 0xFFFF);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_frame_encodes_to_the_same_bytes) {
  for (std::size_t at = 0; at < frames().size(); ++at) {
    ParsedFrame parsed;
    BOOST_TEST(parse(std::span<const std::byte>(frames()[at]), parsed) == ParseError::none);
    FrameStorage storage;
    BOOST_TEST_CONTEXT("frame " << at + 1) {
      BOOST_TEST(wire::test::join(encode(parsed.network, parsed.transport, parsed.payload, storage)) ==
                 frames()[at]);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_header_encodes_to_the_same_bytes) {
  for (const auto& [number, golden] : mads()) {
    Mad again = golden.mad;
    std::fill_n(again.begin(), kMadHeaderBytes, std::byte{0xFF});
    encode(golden.header, again);
    BOOST_TEST_CONTEXT("frame " << number) { BOOST_TEST((again == golden.mad)); }
  }
}

BOOST_AUTO_TEST_CASE(every_cm_message_encodes_to_the_same_bytes) {
  std::map<std::uint16_t, unsigned> counted;
  for (const auto& [number, golden] : mads()) {
    if (!is_cm(golden)) continue;
    ++counted[golden.header.attribute.value];
    CmMessage decoded;
    BOOST_TEST_CONTEXT("frame " << number) {
      BOOST_TEST(decode(golden.mad, decoded) == MadError::none);
      const Mad again = std::visit(
          [&header = golden.header](const auto& m) { return encode(m, header.transaction); }, decoded);
      BOOST_TEST((again == golden.mad));
    }
  }
  const std::map<std::uint16_t, unsigned> expected{{0x10, 35}, {0x11, 4},  {0x12, 12}, {0x13, 15}, {0x14, 13},
                                                   {0x15, 13}, {0x16, 12}, {0x17, 11}, {0x18, 6}};
  BOOST_TEST((counted == expected));
}

BOOST_AUTO_TEST_CASE(a_request_reads_as_wireshark_shows_it) {
  // Frame 1, of rping. The flow label and the packet rate are the bytes': Wireshark 4.0 shows both wrong.
  const Req req = message<Req>(1);
  BOOST_TEST(mads().at(1).header.transaction.value == 0x00000002948BDE86u);
  BOOST_TEST(req.local_id.value == 0x86DE8B94u);
  BOOST_TEST((service_port(req.service) == ServicePort{.space = PortSpace::tcp, .port = 7174}));
  BOOST_TEST(req.local_ca_guid.value == 0x505400FFFE000002u);
  BOOST_TEST(req.local_qkey.value == 0u);
  BOOST_TEST(req.local_qpn.value == 0x11u);
  BOOST_TEST(int{req.responder_resources} == 1);
  BOOST_TEST(int{req.initiator_depth} == 1);
  BOOST_TEST(int{req.remote_cm_response_timeout.value} == 20);
  BOOST_TEST((req.transport_service == TransportService::rc));
  BOOST_TEST(!req.end_to_end_flow_control);
  BOOST_TEST(req.starting_psn.value() == 0x8BEAFCu);
  BOOST_TEST(int{req.local_cm_response_timeout.value} == 20);
  BOOST_TEST(int{req.retry_count} == 7);
  BOOST_TEST(req.pkey.value == 0xFFFF);
  BOOST_TEST((req.path_mtu == MtuCode::bytes_1024));
  BOOST_TEST(!req.rdc_exists);
  BOOST_TEST(int{req.rnr_retry_count} == 7);
  BOOST_TEST(int{req.max_cm_retries} == 15);
  BOOST_TEST(!req.srq);
  BOOST_TEST((req.extended_transport == ExtendedTransport::none));
  BOOST_TEST((req.ece == Ece{}));
  BOOST_TEST((req.alternate == PathParameters{}));
}

BOOST_AUTO_TEST_CASE(a_requests_path_is_that_of_its_frame) {
  const PathParameters path = message<Req>(1).primary;
  BOOST_TEST(path.local_lid.value == 0xFFFF);
  BOOST_TEST(path.remote_lid.value == 0xFFFF);
  BOOST_TEST((path.local_gid == ipv4(2)));
  BOOST_TEST((path.remote_gid == ipv4(1)));
  BOOST_TEST((path.local_gid == mads().at(1).frame.network.source));
  BOOST_TEST((path.remote_gid == mads().at(1).frame.network.destination));
  BOOST_TEST(path.flow_label == 0x642D8u);
  BOOST_TEST(int{path.packet_rate} == 0);
  BOOST_TEST(int{path.traffic_class} == 0);
  BOOST_TEST(int{path.hop_limit} == 64);
  BOOST_TEST(int{path.service_level} == 0);
  BOOST_TEST(!path.subnet_local);
  BOOST_TEST(int{path.local_ack_timeout.value} == 17);
}

BOOST_AUTO_TEST_CASE(ip_addresses_and_ports_are_in_the_private_data) {
  const auto v4 = message<Req>(1).private_data;
  const IpCmHeader v4_header{
      .ip_version = IpVersion::v4, .source_port = 0xB6EE, .source = ipv4(2), .destination = ipv4(1)};
  BOOST_TEST((ip_header(v4) == v4_header));
  BOOST_TEST(holds(behind_ip_header(v4), ""));
  const auto v6 = message<Req>(30).private_data;
  const IpCmHeader v6_header{
      .ip_version = IpVersion::v6, .source_port = 0xB252, .source = ipv6(2), .destination = ipv6(1)};
  BOOST_TEST((ip_header(v6) == v6_header));
}

BOOST_AUTO_TEST_CASE(every_ip_cm_header_encodes_to_the_same_bytes) {
  unsigned headers = 0;
  const auto check = [&](const auto& private_data) {
    auto again = private_data;
    std::fill_n(again.begin(), kIpCmHeaderBytes, std::byte{0xFF});
    encode(ip_header(private_data), again);
    BOOST_TEST((again == private_data));
    ++headers;
  };
  for (const auto& [number, golden] : mads()) {
    CmMessage decoded;
    if (decode(golden.mad, decoded) != MadError::none) continue;
    BOOST_TEST_CONTEXT("frame " << number) {
      if (const auto* req = std::get_if<Req>(&decoded)) check(req->private_data);
      if (const auto* sidr = std::get_if<SidrReq>(&decoded)) check(sidr->private_data);
    }
  }
  BOOST_TEST(headers == 35u + 11u);
}

BOOST_AUTO_TEST_CASE(a_connection_is_made_and_ended) {
  const Req req = message<Req>(1);
  const Rep rep = message<Rep>(2);
  BOOST_TEST((rep.remote_id == req.local_id));
  BOOST_TEST(rep.local_id.value == 0xCFF1DDB4u);
  BOOST_TEST(rep.local_qpn.value == 0x11u);
  BOOST_TEST(rep.starting_psn.value() == 0x124250u);
  BOOST_TEST(int{rep.target_ack_delay.value} == 15);
  BOOST_TEST(int{rep.failover_accepted} == 0);
  BOOST_TEST(!rep.end_to_end_flow_control);
  BOOST_TEST(int{rep.rnr_retry_count} == 7);
  BOOST_TEST(!rep.srq);
  BOOST_TEST(rep.local_ca_guid.value == 0x505400FFFE000001u);
  BOOST_TEST(rep.local_qkey.value == 0u);
  const Rtu rtu = message<Rtu>(3);
  BOOST_TEST((rtu.local_id == req.local_id && rtu.remote_id == rep.local_id));
  const Dreq dreq = message<Dreq>(28);
  BOOST_TEST((dreq.local_id == req.local_id && dreq.remote_id == rep.local_id));
  BOOST_TEST((dreq.remote_qpn == rep.local_qpn));
  const Drep drep = message<Drep>(29);
  BOOST_TEST((drep.local_id == rep.local_id && drep.remote_id == req.local_id));
  for (const std::size_t answer : {2u, 3u}) {
    BOOST_TEST((mads().at(answer).header.transaction == mads().at(1).header.transaction));
  }
  BOOST_TEST((mads().at(29).header.transaction == mads().at(28).header.transaction));
}

BOOST_AUTO_TEST_CASE(parameters_and_private_data_are_the_programs) {
  const Req req = message<Req>(68);
  BOOST_TEST(int{req.responder_resources} == 4);
  BOOST_TEST(int{req.initiator_depth} == 2);
  BOOST_TEST(req.end_to_end_flow_control);
  BOOST_TEST(int{req.retry_count} == 5);
  BOOST_TEST(int{req.rnr_retry_count} == 6);
  BOOST_TEST(holds(behind_ip_header(req.private_data), "REQ-private"));
  const Rep rep = message<Rep>(69);
  BOOST_TEST(int{rep.responder_resources} == 3);
  BOOST_TEST(int{rep.initiator_depth} == 2);
  BOOST_TEST(rep.end_to_end_flow_control);
  BOOST_TEST(int{rep.rnr_retry_count} == 5);
  BOOST_TEST(holds(rep.private_data, "REP-private"));
}

BOOST_AUTO_TEST_CASE(rejects_say_what_and_why) {
  const Rej by_program = message<Rej>(84);
  BOOST_TEST((by_program.rejected == RejectedMessage::req));
  BOOST_TEST((by_program.reason == RejectReason::consumer));
  BOOST_TEST((by_program.remote_id == message<Req>(83).local_id));
  BOOST_TEST(holds(by_program.private_data, "REJ-private-data"));
  BOOST_TEST(by_program.information.used().empty());
  BOOST_TEST((message<Rej>(86).reason == RejectReason::vendor_option_not_supported));
  const Rej nobody_listens = message<Rej>(90);
  BOOST_TEST((nobody_listens.reason == RejectReason::invalid_service_id));
  BOOST_TEST(nobody_listens.local_id.value == 0u);
  const Rej of_reply = message<Rej>(123);
  BOOST_TEST((of_reply.rejected == RejectedMessage::rep));
  BOOST_TEST((of_reply.reason == RejectReason::consumer));
}

BOOST_AUTO_TEST_CASE(a_reject_for_giving_up_names_the_sender) {
  const Rej rej = message<Rej>(98);
  BOOST_TEST((rej.rejected == RejectedMessage::other));
  BOOST_TEST((rej.reason == RejectReason::timeout));
  BOOST_TEST((rej.local_id == message<Req>(97).local_id));
  BOOST_TEST(rej.remote_id.value == 0u);
  BOOST_TEST(rej.information.used().size() == 8u);
  BOOST_TEST(holds(rej.information.used(), std::string("\x50\x54\x00\xFF\xFE\x00\x00\x02", 8)));
}

BOOST_AUTO_TEST_CASE(a_receipt_is_acknowledged) {
  for (const std::size_t frame : {105u, 115u, 119u, 216u}) {
    const Mra mra = message<Mra>(frame);
    BOOST_TEST((mra.acknowledged == AcknowledgedMessage::req));
    BOOST_TEST(int{mra.service_timeout.value} == 24);
  }
  BOOST_TEST((message<Mra>(105).remote_id == message<Req>(104).local_id));
}

BOOST_AUTO_TEST_CASE(services_are_resolved) {
  const SidrReq request = message<SidrReq>(91);
  BOOST_TEST(request.request_id.value == 0x8DDE8B94u);
  BOOST_TEST(request.pkey.value == 0xFFFF);
  BOOST_TEST((service_port(request.service) == ServicePort{.space = PortSpace::udp, .port = 7003}));
  BOOST_TEST((ip_header(request.private_data).destination == ipv4(1)));
  BOOST_TEST(holds(behind_ip_header(request.private_data), "REQ-private"));
  const SidrRep reply = message<SidrRep>(92);
  BOOST_TEST((reply.request_id == request.request_id));
  BOOST_TEST((reply.status == SidrStatus::ok));
  BOOST_TEST(reply.qpn.value == 0x19u);
  BOOST_TEST((reply.service == request.service));
  BOOST_TEST(reply.qkey.value == 0x01234567u);
  BOOST_TEST(holds(reply.private_data, "SIDRREP"));
  BOOST_TEST((message<SidrRep>(94).status == SidrStatus::rejected));
  BOOST_TEST(message<SidrRep>(94).qpn.value == 0u);
  BOOST_TEST((message<SidrRep>(96).status == SidrStatus::unsupported_service));
}

BOOST_AUTO_TEST_CASE(ece_is_in_message_and_header) {
  BOOST_TEST((message<Req>(142).ece == Ece{.vendor_id = 0x15B3, .options = 0x10203040}));
  BOOST_TEST((message<Rep>(143).ece == Ece{.vendor_id = 0x15B3, .options = 0}));
}

BOOST_AUTO_TEST_CASE(counter_requests_are_read_and_refused_alike) {
  unsigned requests = 0;
  for (const auto& [number, golden] : mads()) {
    if (golden.header.management_class != ManagementClass::performance) continue;
    BOOST_TEST_CONTEXT("frame " << number) {
      PortCounters counters;
      ClassPortInfo info;
      const bool asks_for_counters = golden.header.attribute.value == 0x0012;
      BOOST_TEST((decode(golden.mad, counters) == MadError::none) == asks_for_counters);
      BOOST_TEST((decode(golden.mad, info) == MadError::none) == !asks_for_counters);
      if (asks_for_counters) {
        BOOST_TEST(int{counters.port_select} == 1);
        BOOST_TEST((encode(counters, golden.header) == golden.mad));
      }
      if (is_response(golden.header.method)) {
        BOOST_TEST((golden.header.status == MadStatus::unsupported_method_and_attribute));
      } else {
        ++requests;
        // Linux's answer is the request with another method and status.
        Mad answer = golden.mad;
        MadHeader header = golden.header;
        header.method = Method::get_response;
        header.status = MadStatus::unsupported_method_and_attribute;
        encode(header, answer);
        BOOST_TEST((answer == mads().at(number + 1).mad));
      }
    }
  }
  BOOST_TEST(requests == 8u);
}

BOOST_AUTO_TEST_CASE(pings_have_the_vendor) {
  for (const std::size_t frame : {174u, 187u}) {
    VendorMad ping;
    BOOST_TEST(decode(mads().at(frame).mad, ping) == MadError::none);
    BOOST_TEST((ping.header.management_class == ManagementClass::openib_ping));
    BOOST_TEST((ping.header.method == Method::get));
    BOOST_TEST((ping.oui == kOpenIbOui));
    BOOST_TEST(holds(ping.data, ""));
    BOOST_TEST((encode(ping) == mads().at(frame).mad));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
