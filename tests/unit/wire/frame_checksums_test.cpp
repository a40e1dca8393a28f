// Checksums of the IP packets in Ethernet frames: made, and looked at.
#include "wire/frame_checksums.hpp"

#include <boost/test/unit_test.hpp>

#include "sample_frames.hpp"
#include "wire/byte_order.hpp"

namespace urnic::wire::test {
namespace {

constexpr FrameChecksums kBoth{true, true};
constexpr unsigned kTcp = 6, kUdp = 17;

struct Sample {
  std::vector<std::uint16_t> tags{};  // types of VLAN tags
  bool ipv6 = false;
  std::size_t option_bytes = 0;  // of IPv4
  unsigned protocol = kUdp;
  std::size_t payload = 37;
  std::uint16_t fragment = 0x4000;
  std::size_t padding = 0;  // behind the IP packet

  std::size_t ip() const { return 14 + 4 * tags.size(); }
  std::size_t ip_bytes() const { return ipv6 ? 40 : 20 + option_bytes; }
  std::size_t transport() const { return ip() + ip_bytes(); }
  std::size_t transport_bytes() const { return (protocol == kTcp ? 20 : 8) + payload; }
  std::size_t transport_field() const { return transport() + (protocol == kTcp ? 16 : 6); }

  // With something wrong where checksums belong.
  Bytes bytes() const {
    Bytes made(transport() + transport_bytes() + padding);
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(i * 29 + 7);
    std::size_t at = 12;
    for (const std::uint16_t tag : tags) {
      store_be16(&made[at], tag);
      at += 4;
    }
    store_be16(&made[at], ipv6 ? 0x86DD : 0x0800);
    std::byte* const header = &made[ip()];
    if (ipv6) {
      header[0] = std::byte{0x60};
      store_be16(header + 4, static_cast<std::uint16_t>(transport_bytes()));
      header[6] = static_cast<std::byte>(protocol);
    } else {
      header[0] = static_cast<std::byte>(0x40 + ip_bytes() / 4);
      store_be16(header + 2, static_cast<std::uint16_t>(ip_bytes() + transport_bytes()));
      store_be16(header + 6, fragment);
      header[9] = static_cast<std::byte>(protocol);
    }
    return made;
  }
};

// The sum as RFC 1071 1 writes it down: of big-endian words, the last one filled up with a zero.
unsigned sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    sum += std::to_integer<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<unsigned>(sum);
}

// 0xFFFF if the checksum in it is right.
unsigned transport_sum(const Bytes& frame, const Sample& sample) {
  const std::span<const std::byte> all(frame);
  const std::size_t addresses = sample.ip() + (sample.ipv6 ? 8 : 12);
  Bytes summed(all.begin() + addresses, all.begin() + addresses + (sample.ipv6 ? 32 : 8));
  summed.resize(summed.size() + 4);
  store_be16(&summed[summed.size() - 4], static_cast<std::uint16_t>(sample.transport_bytes()));
  store_be16(&summed[summed.size() - 2], static_cast<std::uint16_t>(sample.protocol));
  const auto segment = all.subspan(sample.transport(), sample.transport_bytes());
  summed.insert(summed.end(), segment.begin(), segment.end());
  return sum_of(summed);
}

unsigned network_sum(const Bytes& frame, const Sample& sample) {
  return sum_of(std::span(frame).subspan(sample.ip(), sample.ip_bytes()));
}

// But for its checksums.
Bytes without_checksums(Bytes frame, const Sample& sample) {
  if (!sample.ipv6) store_be16(&frame[sample.ip() + 10], 0);
  store_be16(&frame[sample.transport_field()], 0);
  return frame;
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const std::vector<std::uint16_t>& tags : {std::vector<std::uint16_t>{}, {0x8100}, {0x88A8, 0x8100}})
    for (const bool ipv6 : {false, true})
      for (const std::size_t option_bytes : {0u, 8u})
        for (const unsigned protocol : {kTcp, kUdp})
          for (const std::size_t payload : {0u, 1u, 37u, 1400u})
            for (const std::size_t padding : {0u, 5u})
              all.push_back({tags, ipv6, option_bytes, protocol, payload, 0x4000, padding});
  return all;
}

Bytes filled(const Sample& sample, FrameChecksums wanted = kBoth) {
  Bytes frame = sample.bytes();
  fill_checksums(frame, wanted);
  return frame;
}

BOOST_AUTO_TEST_SUITE(frame_checksums)

// A header that is found in many a text: its checksum is B861.
BOOST_AUTO_TEST_CASE(a_known_header) {
  Bytes frame(14 + 0x73);
  store_be16(&frame[12], 0x0800);
  const std::uint16_t words[] = {0x4500, 0x0073, 0, 0x4000, 0x4011, 0, 0xC0A8, 0x0001, 0xC0A8, 0x00C7};
  for (std::size_t i = 0; i < std::size(words); ++i) store_be16(&frame[14 + 2 * i], words[i]);
  fill_checksums(frame, {.network = true});
  BOOST_TEST(load_be16(&frame[24]) == 0xB861);
}

BOOST_AUTO_TEST_CASE(all_are_made_and_nothing_else_changes) {
  for (const Sample& sample : samples()) {
    const Bytes frame = filled(sample);
    if (!sample.ipv6) BOOST_TEST(network_sum(frame, sample) == 0xFFFFu);
    BOOST_TEST(transport_sum(frame, sample) == 0xFFFFu);
    BOOST_TEST(without_checksums(frame, sample) == without_checksums(sample.bytes(), sample));
    BOOST_TEST((right_checksums(frame) == kBoth));
  }
}

BOOST_AUTO_TEST_CASE(only_what_is_wanted_is_made) {
  const Sample sample;
  BOOST_TEST(filled(sample, {}) == sample.bytes());
  BOOST_TEST((right_checksums(sample.bytes()) == FrameChecksums{}));
  BOOST_TEST((right_checksums(filled(sample, {.network = true})) == FrameChecksums{.network = true}));
  BOOST_TEST((right_checksums(filled(sample, {.transport = true})) == FrameChecksums{.transport = true}));
}

BOOST_AUTO_TEST_CASE(a_wrong_byte_is_seen_where_it_counts) {
  for (const Sample& sample : samples()) {
    Bytes frame = filled(sample);
    frame[sample.transport() + sample.transport_bytes() - 1] ^= std::byte{1};
    BOOST_TEST((right_checksums(frame) == FrameChecksums{.network = true}));
    frame = filled(sample);
    frame[sample.ip() + 8] ^= std::byte{1};  // the time to live; of IPv6 an address
    BOOST_TEST(right_checksums(frame).network == sample.ipv6);
    BOOST_TEST(right_checksums(frame).transport == !sample.ipv6);
    frame = filled(sample);
    if (sample.padding != 0) frame.back() ^= std::byte{1};
    BOOST_TEST((right_checksums(frame) == kBoth));
  }
}

// RFC 768: a sum that is 0 is sent as all ones.
BOOST_AUTO_TEST_CASE(udp_never_sends_zero) {
  for (const bool ipv6 : {false, true}) {
    const Sample sample{.ipv6 = ipv6, .payload = 2};
    Bytes frame = sample.bytes();
    std::byte* const payload = &frame[sample.transport() + 8];
    store_be16(payload, 0);
    fill_checksums(frame, kBoth);
    store_be16(payload, load_be16(&frame[sample.transport_field()]));
    fill_checksums(frame, kBoth);
    BOOST_TEST(load_be16(&frame[sample.transport_field()]) == 0xFFFF);
    BOOST_TEST(right_checksums(frame).transport);
  }
}

BOOST_AUTO_TEST_CASE(a_udp_checksum_that_is_left_out_is_not_right) {
  const Sample sample;
  Bytes frame = filled(sample, {.network = true});
  store_be16(&frame[sample.transport_field()], 0);
  BOOST_TEST((right_checksums(frame) == FrameChecksums{.network = true}));
}

// The first part has the header, but not all that its checksum covers.
BOOST_AUTO_TEST_CASE(of_fragments_only_the_ip_header) {
  for (const unsigned fragment : {0x2000u, 0x2003u, 0x0003u}) {
    const Sample sample{.fragment = static_cast<std::uint16_t>(fragment)};
    Bytes expected = sample.bytes();
    fill_checksums(expected, {.network = true});
    BOOST_TEST(filled(sample) == expected);
    BOOST_TEST((right_checksums(expected) == FrameChecksums{.network = true}));
  }
}

BOOST_AUTO_TEST_CASE(other_frames_stay_as_they_are) {
  Sample other{.protocol = 47};
  Bytes without_transport = other.bytes();
  fill_checksums(without_transport, {.transport = true});
  BOOST_TEST(without_transport == other.bytes());
  Bytes arp = Sample{}.bytes();
  store_be16(&arp[12], 0x0806);
  Bytes three_tags = Sample{.tags = {0x8100, 0x8100, 0x8100}}.bytes();
  Bytes cut = Sample{}.bytes();
  cut.pop_back();  // the IP packet goes on behind the end
  for (const Bytes& frame : {arp, three_tags, cut, Bytes(), Bytes(13)}) {
    Bytes after = frame;
    fill_checksums(after, kBoth);
    BOOST_TEST(after == frame);
    BOOST_TEST((right_checksums(frame) == FrameChecksums{}));
  }
}

// Sanitizers see a byte that is read or written behind the end.
BOOST_AUTO_TEST_CASE(headers_that_are_cut_or_lie) {
  for (const Sample& sample : samples()) {
    const Bytes whole = sample.bytes();
    for (std::size_t size = 0; size < std::min<std::size_t>(whole.size(), 100); ++size) {
      Bytes frame(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      fill_checksums(frame, kBoth);
      const std::size_t length = sample.ip() + (sample.ipv6 ? 4 : 2);
      if (size >= length + 2) store_be16(&frame[length], 3);
      fill_checksums(frame, kBoth);
      right_checksums(frame);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
