// What a host leaves whole crosses the link as the packets that its own TCP would have sent.
#include "device_model/link/frames/tcp_segmenter.hpp"

#include <boost/test/unit_test.hpp>

#include "tcp_frames.hpp"

namespace urnic::link::test {
namespace {

constexpr std::size_t kMost = 16 * 1024;

std::vector<Bytes> parts_of(const Bytes& whole, std::size_t payload_bytes) {
  TcpSegmenter segmenter;
  BOOST_REQUIRE(segmenter.begin(whole, payload_bytes, kMost));
  std::vector<Bytes> parts;
  while (!segmenter.is_done()) {
    Bytes part(kMost);
    part.resize(segmenter.next(part.data()));
    parts.push_back(part);
  }
  return parts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tcp_segmenter)

BOOST_AUTO_TEST_CASE(parts_are_the_packets_of_the_stream) {
  for (const unsigned kind : {0u, 1u, 2u, 3u}) {
    const bool ipv6 = (kind & 1) != 0;
    const bool tagged = (kind & 2) != 0;
    for (const std::size_t payload : {1u, 1448u, 1449u, 2896u, 40'001u, 60'000u}) {
      BOOST_TEST_CONTEXT("IPv6: " << ipv6 << ", tagged: " << tagged << ", payload " << payload) {
        TcpFrame frame{.ipv6 = ipv6, .sequence = 0xFFFF'FF00, .tagged = tagged};
        const auto parts = parts_of(frame.whole(payload), 1448);
        BOOST_REQUIRE(parts.size() == (payload + 1447) / 1448);
        std::size_t left = payload;
        for (const Bytes& part : parts) {
          // The sample's payload depends on its place in the stream alone.
          BOOST_TEST((part == frame.whole(std::min<std::size_t>(left, 1448))));
          left -= std::min<std::size_t>(left, 1448);
          frame.sequence += 1448;
          ++frame.identification;
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(flags_are_of_the_first_or_the_last_part) {
  const TcpFrame frame{.flags = 0x99};  // CWR, ACK, PSH, FIN
  const auto parts = parts_of(frame.whole(3000), 1000);
  const auto flags = [&](std::size_t i) { return std::to_integer<unsigned>(parts[i][frame.tcp() + 13]); };
  BOOST_REQUIRE(parts.size() == 3u);
  BOOST_TEST(flags(0) == 0x90u);
  BOOST_TEST(flags(1) == 0x10u);
  BOOST_TEST(flags(2) == 0x19u);
  for (const Bytes& part : parts) BOOST_TEST(frame.segment_sum(part) == 0xFFFFu);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_divided) {
  const TcpFrame frame;
  const Bytes whole = frame.whole(3000);
  TcpSegmenter segmenter;
  BOOST_TEST(!segmenter.begin(whole, 0, kMost));
  BOOST_TEST(!segmenter.begin(whole, kMost, kMost));
  BOOST_TEST(!segmenter.begin(frame.whole(0), 1000, kMost));
  for (std::size_t length = 0; length < whole.size(); length += length < 80 ? 1 : 500)
    BOOST_TEST(!segmenter.begin(std::span(whole).first(length), 1000, kMost));
  const auto changed = [&](std::size_t at, unsigned value) {
    Bytes other = whole;
    other[at] = static_cast<std::byte>(value);
    return !segmenter.begin(other, 1000, kMost);
  };
  BOOST_TEST(changed(12, 0x81));                // another protocol
  BOOST_TEST(changed(frame.ip(), 0x44));        // an IP header that is too short
  BOOST_TEST(changed(frame.ip(), 0x65));        // another version
  BOOST_TEST(changed(frame.ip() + 6, 0x20));    // a fragment
  BOOST_TEST(changed(frame.ip() + 9, 17));      // UDP
  BOOST_TEST(changed(frame.tcp() + 12, 0x40));  // a TCP header that is too short
  BOOST_TEST(segmenter.is_done());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
