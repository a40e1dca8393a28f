// Packets of InfiniBand in capture files: records of ERF, whole, cut and wrong.
#include "analysis/capture_files/erf_record.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/capture_parser.hpp"
#include "tests/unit/analysis/capture_bytes.hpp"
#include "tests/unit/analysis/infiniband_packets.hpp"

namespace urnic::analysis::test {
namespace {

constexpr std::uint32_t kNanosecondPcap = 0xA1B23C4D;
constexpr std::uint32_t kErf = 197;

Bytes sample_packet() {
  return on_link(infiniband_network(),
                 wire::test::transport_for(wire::Opcode(wire::Service::rc, wire::Operation::send_only)), 10);
}

bool is_packet(const ErfPacket& found, const Bytes& packet) {
  return found.original_bytes == packet.size() &&
         std::equal(found.bytes.begin(), found.bytes.end(), packet.begin(), packet.end());
}

// What the parser finds in a file of one packet.
struct Found {
  wire::LinkLayer link_layer;
  Bytes bytes;
  std::uint32_t original;
};

Found only_packet_of(const CaptureBytes& file) {
  CaptureParser parser;
  parser.feed(file.bytes());
  CapturedPacket packet;
  BOOST_REQUIRE(parser.next(packet));
  return {packet.link_layer, Bytes(packet.bytes.begin(), packet.bytes.end()), packet.original_bytes};
}

std::string error_of(const Bytes& record) {
  try {
    static_cast<void>(infiniband_packet(record));
  } catch (const CaptureError& error) {
    return error.what();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(erf_records)

BOOST_AUTO_TEST_CASE(a_record_holds_a_packet_without_what_fills_it_up) {
  const Bytes packet = sample_packet();
  const Bytes record = erf_record(packet);
  BOOST_TEST(record.size() > 16 + packet.size());
  BOOST_TEST(is_packet(infiniband_packet(record), packet));
}

BOOST_AUTO_TEST_CASE(both_kinds_of_file_say_that_a_packet_is_of_infiniband) {
  const Bytes packet = sample_packet();
  const Bytes record = erf_record(packet);
  for (const bool big_endian : {false, true}) {
    const CaptureBytes files[] = {
        CaptureBytes(big_endian).pcap_header(kNanosecondPcap, kErf).pcap_record(1, 2, record),
        CaptureBytes(big_endian).section().interface("urnic0/before", kErf).packet(0, 1, record)};
    for (const CaptureBytes& file : files) {
      const Found found = only_packet_of(file);
      BOOST_TEST((found.link_layer == wire::LinkLayer::infiniband));
      BOOST_TEST((found.bytes == packet));
      BOOST_TEST(found.original == packet.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_may_have_interfaces_of_both_link_layers) {
  const Bytes packet = sample_packet();
  const Bytes ethernet = wire::test::ipv4_send(60);
  CaptureBytes file;
  file.section().interface("urnic0/before", kErf).interface("urnic1/before");
  file.packet(0, 1, erf_record(packet)).packet(1, 2, ethernet).packet(0, 3, erf_record(packet));
  CaptureParser parser;
  parser.feed(file.bytes());
  CapturedPacket found;
  for (const bool infiniband : {true, false, true}) {
    BOOST_REQUIRE(parser.next(found));
    BOOST_TEST((found.link_layer == wire::LinkLayer::infiniband) == infiniband);
    BOOST_TEST(found.original_bytes == (infiniband ? packet.size() : ethernet.size()));
  }
}

BOOST_AUTO_TEST_CASE(a_cut_record_has_the_packets_first_bytes_and_its_length) {
  const Bytes packet = sample_packet();
  const Bytes record = erf_record(packet, 24);
  const ErfPacket found = infiniband_packet(record);
  BOOST_TEST(found.original_bytes == packet.size());
  BOOST_TEST(found.bytes.size() == 24u);
  // As tcpdump cuts: the header still says the whole record's length.
  const Bytes whole = erf_record(packet);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const ErfPacket cut = infiniband_packet(std::span(whole).first(size));
    BOOST_TEST(cut.bytes.size() == (size < 16 ? 0 : std::min(size - 16, packet.size())));
    BOOST_TEST(cut.original_bytes == (size < 16 ? 0 : packet.size()));
  }
}

BOOST_AUTO_TEST_CASE(further_headers_are_passed_over) {
  const Bytes packet = sample_packet();
  Bytes record = erf_record(packet);
  record[8] |= std::byte{0x80};
  Bytes further(16);
  further[0] = std::byte{0x83};  // of any type; another one follows
  record.insert(record.begin() + 16, further.begin(), further.end());
  wire::store_be16(&record[10], static_cast<std::uint16_t>(record.size()));
  BOOST_TEST(is_packet(infiniband_packet(record), packet));
  // Such that never end.
  for (std::size_t at = 16; at < record.size(); at += 8) record[at] |= std::byte{0x80};
  BOOST_TEST(infiniband_packet(record).bytes.empty());
}

BOOST_AUTO_TEST_CASE(lengths_that_lie_lead_out_of_no_record) {
  const Bytes packet = sample_packet();
  const Bytes record = erf_record(packet);
  for (const auto length : std::to_array<std::uint16_t>({16, 17, 24, 1000, 65535})) {
    for (const auto wire_length : std::to_array<std::uint16_t>({0, 1, 51, 1000, 65535})) {
      Bytes wrong = record;
      wire::store_be16(&wrong[10], length);
      wire::store_be16(&wrong[14], wire_length);
      const ErfPacket found = infiniband_packet(wrong);
      BOOST_TEST(found.original_bytes == wire_length);
      BOOST_TEST(found.bytes.size() <= std::min<std::size_t>(wire_length, wrong.size() - 16));
      BOOST_TEST(found.bytes.size() <= length - 16u);
      // Of which the further header takes eight.
      wrong[8] |= std::byte{0x80};
      BOOST_TEST(infiniband_packet(wrong).bytes.size() <= std::max(length, std::uint16_t{24}) - 24u);
    }
  }
}

BOOST_AUTO_TEST_CASE(other_records_are_refused) {
  Bytes ethernet = erf_record(sample_packet());
  ethernet[8] = std::byte{2};
  BOOST_TEST(error_of(ethernet) == "an ERF record of type 2; read is InfiniBand (21)");
  Bytes with_further_header = ethernet;
  with_further_header[8] = std::byte{0x82};
  BOOST_TEST(error_of(with_further_header) == "an ERF record of type 2; read is InfiniBand (21)");
  Bytes short_length = erf_record(sample_packet());
  wire::store_be16(&short_length[10], 15);
  BOOST_TEST(error_of(short_length) == "an ERF record says that it has 15 bytes");
}

BOOST_AUTO_TEST_CASE(packets_that_begin_with_their_lrh_are_read) {
  const Bytes packet = sample_packet();
  const CaptureBytes files[] = {
      CaptureBytes().pcap_header(kNanosecondPcap, 247).pcap_record(1, 2, packet),
      CaptureBytes().section().interface("urnic0/before", 247).packet(0, 1, packet)};
  for (const CaptureBytes& file : files) {
    const Found found = only_packet_of(file);
    BOOST_TEST((found.link_layer == wire::LinkLayer::infiniband));
    BOOST_TEST((found.bytes == packet));
    BOOST_TEST(found.original == packet.size());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
