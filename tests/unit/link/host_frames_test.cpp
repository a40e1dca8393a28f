// Segments that follow each other reach the host as one; all else reaches it as it came.
#include "device_model/link/frames/host_frames.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <functional>

#include "device_model/link/frames/tcp_segmenter.hpp"
#include "tcp_frames.hpp"

namespace urnic::link::test {
namespace {

constexpr std::uint32_t kMss = 1000;

struct Got {
  TapHeader header;
  Bytes frame;
};

std::vector<Got> all_of(HostFrames& frames) {
  std::vector<Got> all;
  frames.for_each([&](std::span<const iovec> pieces) {
    Bytes bytes;
    for (const iovec& piece : pieces) {
      const auto* first = static_cast<const std::byte*>(piece.iov_base);
      bytes.insert(bytes.end(), first, first + piece.iov_len);
    }
    Got& got = all.emplace_back();
    std::memcpy(&got.header, bytes.data(), sizeof got.header);
    got.frame.assign(bytes.begin() + sizeof got.header, bytes.end());
  });
  frames.clear();
  return all;
}

// Two segments of a stream, the second one changed.
std::vector<Got> after(const TcpFrame& first, const TcpFrame& second, std::size_t payload = kMss,
                       std::size_t second_payload = kMss) {
  HostFrames frames(1 << 20);
  const Bytes both[] = {first.whole(payload), second.whole(second_payload)};
  for (const Bytes& each : both) BOOST_REQUIRE(frames.add({each, {}, {}}));
  return all_of(frames);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_frames)

BOOST_AUTO_TEST_CASE(segments_in_order_become_one) {
  for (const unsigned kind : {0u, 1u, 2u, 3u}) {
    const bool ipv6 = (kind & 1) != 0;
    const bool tagged = (kind & 2) != 0;
    BOOST_TEST_CONTEXT("IPv6: " << ipv6 << ", tagged: " << tagged) {
      constexpr std::size_t kPayload = 20 * kMss + 7;
      const TcpFrame frame{.ipv6 = ipv6, .sequence = 0xFFFF'F000, .flags = 0x18, .tagged = tagged};
      const Bytes whole = frame.whole(kPayload);
      HostFrames frames(1 << 20);
      TcpSegmenter segmenter;
      BOOST_REQUIRE(segmenter.begin(whole, kMss, 16'384));
      std::deque<Bytes> parts;
      while (!segmenter.is_done()) {
        Bytes& part = parts.emplace_back(16'384);
        part.resize(segmenter.next(part.data()));
        BOOST_REQUIRE(frames.add({part, {}, {}}));
      }
      const auto got = all_of(frames);
      BOOST_REQUIRE(got.size() == 1u);
      // All is as before but TCP's sum, of which the host has made the part of the pseudo header.
      Bytes expected = whole;
      put16(expected, frame.tcp() + 16, get16(got[0].frame, frame.tcp() + 16));
      BOOST_TEST((got[0].frame == expected));
      const Bytes pseudo(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(frame.tcp()));
      const unsigned length = 6 + static_cast<unsigned>(whole.size() - frame.tcp());
      BOOST_TEST(get16(got[0].frame, frame.tcp() + 16) ==
                 sum16(pseudo, frame.ip() + (frame.ipv6 ? 8 : 12), pseudo.size(), length));
      BOOST_TEST(got[0].header.flags == kNeedsChecksum);
      BOOST_TEST(got[0].header.gso_type == (ipv6 ? kTcpIpv6Segments : kTcpIpv4Segments));
      BOOST_TEST(got[0].header.segment_bytes == kMss);
      BOOST_TEST(got[0].header.header_bytes == frame.headers());
      BOOST_TEST(got[0].header.checksum_start == frame.tcp());
      BOOST_TEST(got[0].header.checksum_offset == 16);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_segment_alone_is_told_to_be_right) {
  HostFrames frames(1 << 20);
  const Bytes whole = TcpFrame{}.whole(100);
  BOOST_TEST(frames.add({whole, {}, {}}));
  const auto got = all_of(frames);
  BOOST_REQUIRE(got.size() == 1u);
  BOOST_TEST((got[0].frame == whole));
  BOOST_TEST(got[0].header.flags == kChecksumIsRight);
  BOOST_TEST(got[0].header.gso_type == kOneSegment);
}

BOOST_AUTO_TEST_CASE(what_does_not_continue_stays_apart) {
  const TcpFrame first;
  TcpFrame next = first;
  next.sequence += kMss;
  BOOST_REQUIRE(after(first, next).size() == 1u);
  const struct {
    const char* what;
    std::function<void(TcpFrame&)> change;
  } cases[] = {
      {"a hole", [](TcpFrame& frame) { ++frame.sequence; }},
      {"the same again", [](TcpFrame& frame) { frame.sequence -= kMss; }},
      {"another connection", [](TcpFrame& frame) { ++frame.source_port; }},
      {"another acknowledgment", [](TcpFrame& frame) { ++frame.acknowledgment; }},
      {"another timestamp", [](TcpFrame& frame) { ++frame.timestamp; }},
      {"FIN", [](TcpFrame& frame) { frame.flags |= 0x01; }},
      {"SYN", [](TcpFrame& frame) { frame.flags |= 0x02; }},
      {"RST", [](TcpFrame& frame) { frame.flags |= 0x04; }},
      {"URG", [](TcpFrame& frame) { frame.flags |= 0x20; }},
      {"ECE", [](TcpFrame& frame) { frame.flags |= 0x40; }},
      {"IPv6", [](TcpFrame& frame) { frame.ipv6 = true; }},
      {"a VLAN", [](TcpFrame& frame) { frame.tagged = true; }},
  };
  for (const auto& each : cases) {
    BOOST_TEST_CONTEXT(each.what) {
      TcpFrame other = next;
      each.change(other);
      const auto got = after(first, other);
      BOOST_REQUIRE(got.size() == 2u);
      BOOST_TEST((got[0].frame == first.whole(kMss)));
      BOOST_TEST((got[1].frame == other.whole(kMss)));
    }
  }
  BOOST_TEST(after(first, next, kMss, kMss + 1).size() == 2u);  // a longer segment
  BOOST_TEST(after(first, next, kMss, 0).size() == 2u);         // an acknowledgment alone
  TcpFrame pushed = first;
  pushed.flags |= 0x08;
  BOOST_TEST(after(pushed, next).size() == 2u);
}

// The kernel drops it, and counts that.
BOOST_AUTO_TEST_CASE(a_segment_with_a_wrong_sum_passes_as_it_is) {
  const TcpFrame first;
  TcpFrame next = first;
  next.sequence += kMss;
  for (const std::size_t at : {first.ip() + 8, first.headers() + 5}) {
    HostFrames frames(1 << 20);
    const Bytes right = first.whole(kMss);
    Bytes wrong = next.whole(kMss);
    wrong[at] ^= std::byte{1};
    BOOST_TEST(frames.add({right, {}, {}}));
    BOOST_TEST(frames.add({wrong, {}, {}}));
    const auto got = all_of(frames);
    BOOST_REQUIRE(got.size() == 2u);
    BOOST_TEST((got[1].frame == wrong));
    BOOST_TEST(got[1].header.flags == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_ip_packet_has_its_longest) {
  HostFrames frames(1 << 20);
  TcpFrame frame;
  std::deque<Bytes> parts;
  for (int i = 0; i < 100; ++i) {
    const Bytes& part = parts.emplace_back(frame.whole(kMss));
    BOOST_TEST(frames.add({part, {}, {}}));
    frame.sequence += kMss;
  }
  const auto got = all_of(frames);
  BOOST_REQUIRE(got.size() == 2u);
  BOOST_TEST(get16(got[0].frame, frame.ip() + 2) == got[0].frame.size() - frame.ip());
  BOOST_TEST(got[0].frame.size() + kMss - frame.ip() > 65'535u);
}

// In several pieces: headers and trailer are their maker's, and change.
BOOST_AUTO_TEST_CASE(a_frame_in_pieces_is_copied) {
  HostFrames frames(1 << 20);
  const Bytes whole = TcpFrame{}.whole(100);
  Bytes copy = whole;
  const std::span<const std::byte> all(copy);
  BOOST_TEST(frames.add({all.first(54), all.subspan(54, 60), all.subspan(114)}));
  std::fill(copy.begin(), copy.end(), std::byte{});
  const auto got = all_of(frames);
  BOOST_REQUIRE(got.size() == 1u);
  BOOST_TEST((got[0].frame == whole));
  BOOST_TEST(got[0].header.flags == 0);
}

BOOST_AUTO_TEST_CASE(no_more_waits_than_may) {
  HostFrames frames(3000);
  const Bytes part = TcpFrame{}.whole(kMss);
  BOOST_TEST(frames.add({part, {}, {}}));
  BOOST_TEST(frames.add({part, {}, {}}));
  BOOST_TEST(!frames.add({part, {}, {}}));
  BOOST_TEST(all_of(frames).size() == 2u);
  BOOST_TEST(frames.empty());
  BOOST_TEST(frames.add({part, {}, {}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
