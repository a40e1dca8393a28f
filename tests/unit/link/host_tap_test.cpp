// The end of a TAP with offloads: what the host leaves to its interface is done before a frame is on the
// link.
#include "device_model/link/frames/host_tap.hpp"

#include <sys/socket.h>

#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tcp_frames.hpp"

namespace urnic::link::test {
namespace {

constexpr std::uint32_t kMany = 1000;

// A socket that keeps messages apart stands for the interface.
struct Fixture {
  memory::Descriptor host;
  memory::Descriptor end = make_pair(host);
  HostTap tap{std::move(end)};

  static memory::Descriptor make_pair(memory::Descriptor& host) {
    int ends[2];
    BOOST_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    host = memory::Descriptor(ends[0]);
    return memory::Descriptor(ends[1]);
  }
  void host_sends(const TapHeader& header, const Bytes& frame) const {
    Bytes message(sizeof header);
    std::memcpy(message.data(), &header, sizeof header);
    message.insert(message.end(), frame.begin(), frame.end());
    BOOST_REQUIRE(::send(host.get(), message.data(), message.size(), 0) ==
                  static_cast<ssize_t>(message.size()));
  }
  std::vector<Bytes> received(std::uint32_t most = kMany) {
    std::vector<Bytes> all;
    for (const auto frame : tap.receive(most)) all.emplace_back(frame.begin(), frame.end());
    tap.release();
    return all;
  }
  static TapHeader segments_of(std::uint16_t bytes) {
    return {.flags = kNeedsChecksum, .gso_type = kTcpIpv4Segments, .segment_bytes = bytes};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(host_tap, Fixture)

BOOST_AUTO_TEST_CASE(a_whole_frame_comes_as_it_is) {
  const Bytes frame = TcpFrame{}.whole(1448);
  host_sends({}, frame);
  const auto all = received();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0] == frame));
}

BOOST_AUTO_TEST_CASE(a_check_sum_is_completed) {
  const TcpFrame sample;
  const Bytes right = sample.whole(99);
  Bytes left = right;
  put16(left, sample.tcp() + 16, 0);
  put16(left, sample.tcp() + 16,
        sum16(left, sample.ip() + 12, sample.tcp(), 6 + static_cast<unsigned>(left.size() - sample.tcp())));
  host_sends({.flags = kNeedsChecksum,
              .checksum_start = static_cast<std::uint16_t>(sample.tcp()),
              .checksum_offset = 16},
             left);
  const auto all = received();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0] == right));
}

BOOST_AUTO_TEST_CASE(a_stream_is_divided_as_far_as_there_is_room) {
  constexpr std::size_t kPayload = 50'000;
  TcpFrame sample;
  host_sends(segments_of(1000), sample.whole(kPayload));
  const Bytes behind = TcpFrame{.sequence = 5}.whole(10);
  host_sends({}, behind);
  std::vector<Bytes> all;
  for (const std::uint32_t most : {1u, 7u, 20u, kMany, kMany}) {
    const auto some = received(most);
    BOOST_TEST(some.size() <= most);
    all.insert(all.end(), some.begin(), some.end());
  }
  BOOST_REQUIRE(all.size() == kPayload / 1000 + 1);
  for (std::size_t i = 0; i < kPayload / 1000; ++i) {
    BOOST_TEST((all[i] == sample.whole(1000)));
    sample.sequence += 1000;
    ++sample.identification;
  }
  BOOST_TEST((all.back() == behind));
}

// A program of the host may have made the header.
BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_dropped) {
  const Bytes frame = TcpFrame{}.whole(3000);
  host_sends(segments_of(0), frame);
  host_sends(segments_of(0xFFFF), frame);
  host_sends({.gso_type = kTcpIpv4Segments, .segment_bytes = 100}, Bytes(100));
  host_sends({.flags = kNeedsChecksum, .checksum_start = 0xFFFF}, frame);
  host_sends({.flags = kNeedsChecksum, .checksum_start = 50, .checksum_offset = 0xFFFF}, frame);
  host_sends({}, Bytes(13));
  host_sends({}, Bytes(kMostFrameBytes + 1));
  host_sends({}, frame);
  const auto all = received();
  BOOST_REQUIRE(all.size() == 1u);
  BOOST_TEST((all[0] == frame));
  BOOST_TEST(tap.impossible() == 7u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
