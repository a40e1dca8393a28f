// The RMPP header: where its fields lie, by bytes written out, and what is left alone.
#include "wire/mad/rmpp.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <vector>

namespace urnic::wire::mad::test {
namespace {

// Bytes 24 to 35 of the first of several segments: 632 bytes of payload, response time 18.
constexpr std::array<std::byte, kRmppHeaderBytes> kFirstSegment{
    std::byte{1}, std::byte{1}, std::byte{0x93}, std::byte{0}, std::byte{0}, std::byte{0},
    std::byte{0}, std::byte{1}, std::byte{0},    std::byte{0}, std::byte{2}, std::byte{0x78}};

RmppHeader first_segment() {
  RmppHeader header;
  header.version = kRmppVersion;
  header.type = RmppType::data;
  header.response_time = 18;
  header.first = true;
  header.active = true;
  header.segment = 1;
  header.length_or_window = 632;
  return header;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rmpp)

BOOST_AUTO_TEST_CASE(fields_lie_where_the_specification_has_them) {
  Mad mad{};
  std::copy(kFirstSegment.begin(), kFirstSegment.end(), mad.begin() + kMadHeaderBytes);
  RmppHeader header;
  BOOST_TEST((decode(mad, header) == MadError::none));
  BOOST_TEST((header == first_segment()));
  mad[26] = std::byte{4};
  BOOST_TEST((decode(mad, header) == MadError::none));
  BOOST_TEST(header.last);
  BOOST_TEST(!header.first);
  BOOST_TEST(!header.active);
}

BOOST_AUTO_TEST_CASE(encoding_overwrites_the_header_and_nothing_else) {
  Mad mad;
  mad.fill(std::byte{0xFF});
  encode(first_segment(), mad);
  Mad expected;
  expected.fill(std::byte{0xFF});
  std::copy(kFirstSegment.begin(), kFirstSegment.end(), expected.begin() + kMadHeaderBytes);
  BOOST_TEST((mad == expected));
}

BOOST_AUTO_TEST_CASE(other_sizes_are_refused_and_nothing_is_written) {
  for (const std::size_t size : {std::size_t{0}, kMadBytes - 1, kMadBytes + 1}) {
    const std::vector<std::byte> bytes(size, std::byte{0xFF});
    RmppHeader header = first_segment();
    BOOST_TEST((decode(bytes, header) == MadError::wrong_size));
    BOOST_TEST((header == first_segment()));
  }
}

// Subnet administration's header ends at 56, device management's and its kin's at 64, a vendor's OUI at 40.
BOOST_AUTO_TEST_CASE(classes_with_rmpp_and_where_their_data_begin) {
  const struct {
    std::uint8_t management_class;
    bool has_rmpp;
    std::size_t data_offset;
  } cases[] = {{0x01, false, 24}, {0x03, true, 56}, {0x04, false, 24}, {0x06, true, 64},
               {0x07, false, 24}, {0x10, true, 64}, {0x12, true, 64},  {0x2F, false, 24},
               {0x30, true, 40},  {0x4F, true, 40}, {0x50, false, 24}, {0x81, false, 24}};
  for (const auto& each : cases) {
    BOOST_TEST(has_rmpp(ManagementClass{each.management_class}) == each.has_rmpp, int{each.management_class});
    BOOST_TEST(data_offset(ManagementClass{each.management_class}) == each.data_offset);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
