// Packets of InfiniBand in a capture, as Wireshark reads them.
#include "device_model/capture/erf_record.hpp"

#include <pcap/pcap.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/capture/pcap_file.hpp"
#include "device_model/capture/pcapng_file.hpp"
#include "tests/unit/capture/written_files.hpp"
#include "wire/byte_order.hpp"

namespace urnic::capture::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kTime = 1'500'000'000;  // a second and a half
// A sample of the specification, up to its ICRC; its VCRC is 45 FA.
constexpr char kPacket[] =
    "\x70\x12\x37\x5c\x00\x0e\x17\xd2\x0a\x20\x24\x87\x00\x87\xb1\xb3\x00\x0d\xec\x2a\x01\x71\x0a\x1c\x01"
    "\x5d\x40\x02\x38\xf2\x7a\x05\x00\x00\x00\x0e\xbb\x88\x4d\x85\xfd\x5c\xfb\xa4\x72\x8b\xc0\x69\x0e\xd4"
    "\x00\x00\x96\x25\xb7\x5a";

Bytes as_bytes(std::string_view text) {
  Bytes bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

wire::Frame packet(const Bytes& bytes) {
  return {.headers = bytes, .payload = {}, .trailer = {}, .link_layer = wire::LinkLayer::infiniband};
}

// The record that a capture makes of the sample, which keeps so many bytes of it.
struct Recorded {
  explicit Recorded(std::size_t snapshot_bytes) : writer(8192, 1000, snapshot_bytes) {
    const Bytes sample = as_bytes({kPacket, 56});
    writer.observe(packet(sample), {0, "seen"});
    CaptureReader reader(memory::Descriptor(dup(writer.ring_descriptor())),
                         memory::Descriptor(dup(writer.wake_descriptor())));
    BOOST_REQUIRE(reader.next(frame));
    bytes.assign(frame.bytes.begin(), frame.bytes.end());
    comment = frame.comment;
  }
  CaptureWriter writer;
  CapturedFrame frame;
  Bytes bytes;
  std::string comment;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(erf_record)

BOOST_AUTO_TEST_CASE(a_packet_has_a_header_in_front_and_its_variant_crc_behind) {
  const Recorded whole(kMaxFrameBytes);
  BOOST_TEST(whole.bytes.size() == 16 + 64u);  // 56 and 2, up to a multiple of 8
  BOOST_TEST(whole.frame.original_bytes == whole.bytes.size());
  BOOST_CHECK(whole.bytes[8] == std::byte{21});
  BOOST_CHECK(whole.bytes[9] == std::byte{4});
  BOOST_TEST(wire::load_be16(whole.bytes.data() + 10) == whole.bytes.size());
  BOOST_TEST(wire::load_be16(whole.bytes.data() + 14) == 58);
  BOOST_CHECK(std::memcmp(whole.bytes.data() + 16, kPacket, 56) == 0);
  BOOST_CHECK(whole.bytes[72] == std::byte{0x45} && whole.bytes[73] == std::byte{0xFA});
  BOOST_CHECK(std::all_of(whole.bytes.begin() + 74, whole.bytes.end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  BOOST_TEST(whole.comment == "seen");
}

BOOST_AUTO_TEST_CASE(the_time_counts_seconds_and_parts_of_one) {
  Bytes record(erf_record_bytes(56, 56));
  complete_erf_record(record, 56, 56, kTime);
  const Bytes expected = as_bytes(std::string_view("\0\0\0\x80\1\0\0\0", 8));
  BOOST_CHECK(std::equal(expected.begin(), expected.end(), record.begin()));
}

BOOST_AUTO_TEST_CASE(a_packet_that_is_cut_has_no_variant_crc) {
  const Recorded cut(50);
  BOOST_TEST(cut.bytes.size() == 16 + 48u);
  BOOST_TEST(cut.frame.original_bytes == 16 + 64u);
  BOOST_CHECK((cut.bytes[9] & std::byte{8}) != std::byte{0});
  BOOST_TEST(wire::load_be16(cut.bytes.data() + 10) == cut.bytes.size());
  BOOST_TEST(wire::load_be16(cut.bytes.data() + 14) == 58);
  BOOST_CHECK(std::memcmp(cut.bytes.data() + 16, kPacket, 48) == 0);
}

BOOST_AUTO_TEST_CASE(a_record_gives_its_packet_back) {
  const Recorded whole(kMaxFrameBytes);
  const ErfPacket packet = packet_in_erf_record(whole.bytes);
  BOOST_REQUIRE(packet.bytes.size() == wire::load_be16(whole.bytes.data() + 14));
  BOOST_TEST(packet.original_bytes == packet.bytes.size());
  BOOST_CHECK(std::memcmp(packet.bytes.data(), whole.bytes.data() + 16, packet.bytes.size()) == 0);
  const Recorded cut(50);
  BOOST_TEST(packet_in_erf_record(cut.bytes).bytes.size() == 48u);
  BOOST_TEST(packet_in_erf_record(cut.bytes).original_bytes == packet.original_bytes);
  BOOST_TEST(packet_in_erf_record(std::span(whole.bytes).first(16)).bytes.empty());
}

BOOST_FIXTURE_TEST_CASE(files_say_what_they_hold, TemporaryFile) {
  const auto type_of_file = [this] {
    char error[PCAP_ERRBUF_SIZE] = "";
    pcap_t* const file = pcap_open_offline(path.c_str(), error);
    BOOST_REQUIRE(file != nullptr);
    pcap_pkthdr* header = nullptr;
    const u_char* bytes = nullptr;
    BOOST_TEST(pcap_next_ex(file, &header, &bytes) == 1);
    const int type = pcap_datalink(file);
    pcap_close(file);
    return type;
  };
  const Recorded whole(kMaxFrameBytes);
  CapturedFrame frame = whole.frame;
  frame.bytes = whole.bytes;
  frame.comment = {};
  {
    PcapFile file(path, 0, LinkType::erf);
    file.write(frame);
    file.flush();
  }
  BOOST_TEST(type_of_file() == DLT_ERF);
  {
    PcapngFile file(path, "test");
    const Interface interfaces[] = {{"urnic0/before", "urnic0: before the link", LinkType::erf}};
    file.describe_interfaces(interfaces);
    file.write(frame);
    file.flush();
  }
  BOOST_TEST(type_of_file() == DLT_ERF);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
