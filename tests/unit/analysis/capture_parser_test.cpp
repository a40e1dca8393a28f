// Capture files of every kind, whole, in portions, cut and wrong.
#include "analysis/capture_files/capture_parser.hpp"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "analysis/capture_files/capture_error.hpp"
#include "analysis/capture_files/packet_filter.hpp"
#include "tests/unit/analysis/capture_bytes.hpp"

namespace urnic::analysis::test {
namespace {

constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr std::uint32_t kNanoseconds = 0xA1B23C4D;

Bytes frame_of(std::size_t size) {
  Bytes frame(size);
  for (std::size_t i = 0; i < size; ++i) frame[i] = static_cast<std::byte>(i * 3 + 1);
  return frame;
}

struct Read {
  std::uint64_t number;
  std::int64_t nanoseconds;
  std::uint32_t interface;
  std::uint32_t original;
  Bytes bytes;
  std::string comment;
  bool operator==(const Read&) const = default;
};

struct Result {
  std::vector<Read> packets;
  std::vector<CaptureInterface> interfaces;
  std::size_t rest = 0;
};

Result read(std::span<const std::byte> file, std::size_t portion) {
  CaptureParser parser;
  Result result;
  for (std::size_t at = 0; at < file.size(); at += portion) {
    parser.feed(file.subspan(at, std::min(portion, file.size() - at)));
    CapturedPacket packet;
    while (parser.next(packet)) {
      result.packets.push_back({packet.number, packet.nanoseconds, packet.interface, packet.original_bytes,
                                Bytes(packet.bytes.begin(), packet.bytes.end()),
                                std::string(packet.comment)});
    }
  }
  result.interfaces = parser.interfaces();
  result.rest = parser.rest();
  return result;
}

// In one piece; every other division has to give the same.
Result read(const CaptureBytes& file) {
  const Result whole = read(file.bytes(), file.bytes().size());
  for (const std::size_t portion : {1, 7, 64}) {
    const Result again = read(file.bytes(), portion);
    BOOST_TEST((again.packets == whole.packets));
    BOOST_TEST(again.rest == whole.rest);
  }
  return whole;
}

std::string error_of(std::span<const std::byte> file) {
  CaptureParser parser;
  parser.feed(file);
  CapturedPacket packet;
  try {
    while (parser.next(packet)) {
    }
  } catch (const CaptureError& error) {
    BOOST_CHECK_THROW(parser.next(packet), CaptureError);
    return error.what();
  }
  return {};
}

BOOST_AUTO_TEST_SUITE(capture_parser)

BOOST_AUTO_TEST_CASE(classic_files_in_both_units_and_byte_orders) {
  for (const bool big_endian : {false, true}) {
    for (const std::uint32_t magic : {kMicroseconds, kNanoseconds}) {
      CaptureBytes file(big_endian);
      file.pcap_header(magic).pcap_record(7, 999, frame_of(60)).pcap_record(8, 1, frame_of(14), 1500);
      const Result result = read(file);
      const std::int64_t unit = magic == kMicroseconds ? 1000 : 1;
      BOOST_TEST_CONTEXT("big endian " << big_endian << " magic " << magic) {
        BOOST_REQUIRE(result.packets.size() == 2u);
        BOOST_TEST((result.packets[0] == Read{1, 7'000'000'000 + 999 * unit, 0, 60, frame_of(60), ""}));
        BOOST_TEST((result.packets[1] == Read{2, 8'000'000'000 + unit, 0, 1500, frame_of(14), ""}));
        BOOST_TEST(result.rest == 0u);
        BOOST_REQUIRE(result.interfaces.size() == 1u);
        BOOST_TEST((result.interfaces[0].point == CapturePoint::unknown));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pcapng_with_interfaces_comments_and_blocks_of_others) {
  for (const bool big_endian : {false, true}) {
    CaptureBytes file(big_endian);
    file.section()
        .interface("urnic0/before")
        .interface("urnic0/dropped")
        .block(0x0BAD, CaptureBytes().u32(1));
    file.packet(1, 5'000'000'123, frame_of(61), {"lost\nhere", "and there"}).packet(0, 9, frame_of(64));
    const Result result = read(file);
    BOOST_REQUIRE(result.packets.size() == 2u);
    BOOST_TEST((result.packets[0] == Read{1, 5'000'000'123, 1, 61, frame_of(61), "lost here; and there"}));
    BOOST_TEST((result.packets[1] == Read{2, 9, 0, 64, frame_of(64), ""}));
    BOOST_REQUIRE(result.interfaces.size() == 2u);
    BOOST_TEST(result.interfaces[1].name == "urnic0/dropped");
    BOOST_TEST(result.interfaces[1].device == "urnic0");
    BOOST_TEST((result.interfaces[0].point == CapturePoint::before));
    BOOST_TEST((result.interfaces[1].point == CapturePoint::dropped));
  }
}

BOOST_AUTO_TEST_CASE(a_second_section_has_interfaces_and_a_byte_order_of_its_own) {
  CaptureBytes file;
  file.section().interface("urnic0/after").packet(0, 1, frame_of(20));
  file.raw(CaptureBytes(true).section().interface("eth0").packet(0, 2, frame_of(30)).bytes());
  const Result result = read(file);
  BOOST_REQUIRE(result.packets.size() == 2u);
  BOOST_TEST(result.packets[1].interface == 1u);
  BOOST_TEST(result.packets[1].nanoseconds == 2);
  BOOST_TEST((result.interfaces[0].point == CapturePoint::after));
  BOOST_TEST((result.interfaces[1].point == CapturePoint::unknown));
}

BOOST_AUTO_TEST_CASE(timestamps_in_every_resolution) {
  struct Row {
    char resolution;
    std::uint64_t units;
    std::int64_t nanoseconds;
  };
  const Row rows[] = {{6, 1'234'567, 1'234'567'000},
                      {9, 1'234'567, 1'234'567},
                      {3, 5, 5'000'000},
                      {0, 5, 5'000'000'000},
                      {12, 1'234'999, 1'234},
                      {static_cast<char>(0x80 | 20), 1 << 20, 1'000'000'000},
                      {static_cast<char>(0x80 | 1), 3, 1'500'000'000}};
  for (const Row& row : rows) {
    const Result result =
        read(CaptureBytes().section().interface("", 1, row.resolution).packet(0, row.units, frame_of(20)));
    BOOST_REQUIRE(result.packets.size() == 1u);
    BOOST_TEST(result.packets[0].nanoseconds == row.nanoseconds);
  }
}

BOOST_AUTO_TEST_CASE(a_simple_packet_block_has_no_time) {
  CaptureBytes file;
  file.section().interface("").block(3, CaptureBytes().u32(70).padded(frame_of(64)));
  const Result result = read(file);
  BOOST_REQUIRE(result.packets.size() == 1u);
  BOOST_TEST((result.packets[0] == Read{1, 0, 0, 70, frame_of(64), ""}));
}

BOOST_AUTO_TEST_CASE(packets_without_an_ethernet_header_get_one) {
  Bytes ipv4 = frame_of(40);
  ipv4[0] = std::byte{0x45};
  Bytes ipv6 = frame_of(60);
  ipv6[0] = std::byte{0x60};
  const auto cooked = CaptureBytes(true).u16(0).u16(1).u16(6).u32(0x02000000).u16(0x000A).u16(0).u16(0x0800);
  const auto cooked2 = CaptureBytes(true)
                           .u16(0x86DD)
                           .u16(0)
                           .u32(3)
                           .u16(1)
                           .text(std::string_view("\0\6", 2))
                           .u32(0x02000000)
                           .u16(0x000B)
                           .u16(0);
  struct Row {
    std::uint32_t link;
    Bytes header;
    Bytes packet;
    std::uint16_t type;
    unsigned last_of_source;
  };
  const Row rows[] = {{101, {}, ipv4, 0x0800, 0},
                      {101, {}, ipv6, 0x86DD, 0},
                      {228, {}, ipv4, 0x0800, 0},
                      {229, {}, ipv6, 0x86DD, 0},
                      {113, cooked.bytes(), ipv4, 0x0800, 0x0A},
                      {276, cooked2.bytes(), ipv6, 0x86DD, 0x0B}};
  for (const Row& row : rows) {
    Bytes packet = row.header;
    packet.insert(packet.end(), row.packet.begin(), row.packet.end());
    const Result result = read(CaptureBytes().pcap_header(kNanoseconds, row.link).pcap_record(0, 0, packet));
    BOOST_TEST_CONTEXT("link type " << row.link) {
      BOOST_REQUIRE(result.packets.size() == 1u);
      const Bytes& frame = result.packets[0].bytes;
      BOOST_REQUIRE(frame.size() == 14 + row.packet.size());
      BOOST_TEST(result.packets[0].original == frame.size());
      BOOST_TEST(std::to_integer<unsigned>(frame[12]) == row.type >> 8);
      BOOST_TEST(std::to_integer<unsigned>(frame[13]) == (row.type & 0xFF));
      BOOST_TEST(std::to_integer<unsigned>(frame[11]) == row.last_of_source);
      BOOST_TEST(std::equal(row.packet.begin(), row.packet.end(), frame.begin() + 14));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_was_cut_is_read_up_to_its_last_record) {
  const CaptureBytes files[] = {
      CaptureBytes()
          .pcap_header(kNanoseconds)
          .pcap_record(1, 1, frame_of(60))
          .pcap_record(1, 2, frame_of(60)),
      CaptureBytes().section().interface("a").packet(0, 1, frame_of(60)).packet(0, 2, frame_of(60))};
  for (const CaptureBytes& file : files) {
    for (std::size_t size = 0; size < file.bytes().size(); ++size) {
      const Result result = read(std::span(file.bytes()).first(size), 1000);
      BOOST_TEST(result.packets.size() < 2u);
      BOOST_TEST((result.rest == 0 || size != 0));
    }
    BOOST_TEST(read(std::span(file.bytes()).first(file.bytes().size() - 1), 1000).rest > 0u);
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_a_file_is_said_with_its_place) {
  struct Row {
    CaptureBytes file;
    std::string error;
  };
  const auto section = [] { return CaptureBytes().section(); };
  const auto with_interface = [] { return CaptureBytes().section().interface("a"); };
  CaptureBytes other_length = with_interface();
  other_length.packet(0, 1, frame_of(60));
  other_length.bytes().back() = std::byte{1};
  CaptureBytes no_magic = section();
  no_magic.bytes()[8] = std::byte{0};
  const Row rows[] = {
      {CaptureBytes().text("GIF89a"), "byte 0: neither a pcap nor a pcapng file"},
      {CaptureBytes().u32(kNanoseconds).u16(3).u16(0).u32(0).u32(0).u32(0).u32(1),
       "byte 0: pcap version 3; version 2 is read"},
      {CaptureBytes().pcap_header(kNanoseconds).u32(0).u32(0).u32(300000).u32(1),
       "byte 24: a record says that it has 300000 bytes; the most is 262144"},
      {CaptureBytes().pcap_header(kNanoseconds, 105).pcap_record(0, 0, frame_of(60)),
       "byte 24: its packets have link type 105; read are Ethernet (1), raw IP (101, 228, 229), Linux cooked "
       "(113, 276) and InfiniBand (247, and in ERF 197)"},
      {no_magic, "byte 0: a pcapng section header without the byte-order magic 0x1A2B3C4D"},
      {CaptureBytes().block(0x0A0D0D0A, CaptureBytes().u32(0x1A2B3C4D).u16(2).u16(0).u32(0).u32(0)),
       "byte 0: pcapng version 2; version 1 is read"},
      {CaptureBytes().block(0x0A0D0D0A, CaptureBytes().u32(0x1A2B3C4D)),
       "byte 0: a pcapng section header is cut short"},
      {section().u32(6).u32(14).u32(0).u16(0), "byte 28: a pcapng block says that it has 14 bytes"},
      {section().u32(6).u32(0x40000000).u32(0), "byte 28: a pcapng block says that it has 1073741824 bytes"},
      {other_length, "byte 68: the two lengths of a pcapng block differ"},
      {section().packet(0, 1, frame_of(60)),
       "byte 28: a packet of interface 0, which the section has not described"},
      {section().block(3, CaptureBytes().u32(4).u32(0)),
       "byte 28: a packet before the section has described an interface"},
      {section().block(1, CaptureBytes().u32(1)), "byte 28: a pcapng interface description is cut short"},
      {section().interface("a", 1, 0).packet(0, 0x100000000, frame_of(60)),
       "byte 68: a packet's time is not between the years 1970 and 2106"},
      {section().interface("a", 1, 20),
       "byte 28: an interface's timestamps are finer than 64 bits can count"},
      {with_interface().block(6, CaptureBytes().u32(0).u32(0)),
       "byte 68: a pcapng packet block is cut short"},
      {with_interface().block(6, CaptureBytes().u32(0).u32(0).u32(0).u32(9).u32(9).u32(0)),
       "byte 68: a packet of 9 bytes in a pcapng block that is shorter"},
      {with_interface().block(6, CaptureBytes().u32(0).u32(0).u32(0).u32(0).u32(0).u16(1).u16(500)),
       "byte 68: an option of 500 bytes in a pcapng block that is shorter"},
      {with_interface().block(2, CaptureBytes().u32(0)),
       "byte 68: a pcapng packet block of the obsolete kind 2; write the file anew: editcap IN OUT"},
  };
  for (const Row& row : rows) BOOST_TEST(error_of(row.file.bytes()) == row.error);
}

BOOST_AUTO_TEST_CASE(a_filter_is_tcpdumps) {
  Bytes frame = frame_of(60);
  frame[12] = std::byte{0x08};
  frame[13] = std::byte{0x06};
  BOOST_TEST(PacketFilter("arp").matches(frame, frame.size()));
  BOOST_TEST(!PacketFilter("ip").matches(frame, frame.size()));
  BOOST_TEST(PacketFilter("greater 1000").matches(frame, 1500));
  BOOST_CHECK_THROW(PacketFilter("udp port port"), CaptureError);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
