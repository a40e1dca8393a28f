// Values inside management datagrams: timeout codes, service ids, the IP CM service's header.
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <vector>

#include "wire/mad/guid_bytes.hpp"
#include "wire/mad/ip_cm_header.hpp"
#include "wire/mad/service_id.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::wire::mad::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

int code_for(nanoseconds time) { return timeout_code_for(time).value; }

std::vector<std::byte> header_bytes(unsigned version, unsigned ip_version) {
  std::vector<std::byte> bytes(kIpCmHeaderBytes);
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = static_cast<std::byte>(at);
  bytes[0] = static_cast<std::byte>(version);
  bytes[1] = static_cast<std::byte>(ip_version);
  return bytes;
}

IpCmError judge(const std::vector<std::byte>& bytes) {
  IpCmHeader header;
  return decode(bytes, header);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(mad_timeouts)

BOOST_AUTO_TEST_CASE(a_code_is_a_power_of_two_of_the_unit) {
  BOOST_TEST(duration({0}).count() == 4096);
  BOOST_TEST(duration({1}).count() == 8192);
  BOOST_TEST(duration({20}).count() == 4'294'967'296);
  BOOST_TEST(duration({31}).count() == 8'796'093'022'208);
}

BOOST_AUTO_TEST_CASE(only_five_bits_of_a_code_count) {
  BOOST_TEST(duration({32}).count() == 4096);
  BOOST_TEST(duration({255}).count() == duration(kLongestTimeout).count());
}

BOOST_AUTO_TEST_CASE(a_time_is_rounded_up_to_a_code) {
  for (std::uint8_t code = 0; code <= 31; ++code) {
    BOOST_TEST(code_for(duration({code})) == code);
    BOOST_TEST(code_for(duration({code}) - 1ns) == code);
    BOOST_TEST(code_for(duration({code}) + 1ns) == (code == 31 ? 31 : code + 1));
  }
}

BOOST_AUTO_TEST_CASE(times_out_of_range_have_the_nearest_code) {
  BOOST_TEST(code_for(0ns) == 0);
  BOOST_TEST(code_for(-1ns) == 0);
  BOOST_TEST(code_for(nanoseconds::min()) == 0);
  BOOST_TEST(code_for(nanoseconds::max()) == 31);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(service_ids)

BOOST_AUTO_TEST_CASE(port_spaces_are_in_the_upper_bits) {
  BOOST_TEST(service_id({PortSpace::tcp, 7174}).value == 0x01061C06u);
  BOOST_TEST(service_id({PortSpace::udp, 7003}).value == 0x01111B5Bu);
  BOOST_TEST(service_id({PortSpace::ib, 1}).value == 0x013F0001u);
  BOOST_TEST(service_id({PortSpace::ipoib, 0xFFFF}).value == 0x0002FFFFu);
}

BOOST_AUTO_TEST_CASE(a_ports_id_stands_for_the_port) {
  for (const PortSpace space : {PortSpace::ipoib, PortSpace::tcp, PortSpace::udp, PortSpace::ib}) {
    for (const std::uint16_t port : std::array<std::uint16_t, 4>{0, 1, 7174, 65535}) {
      const ServicePort expected{.space = space, .port = port};
      BOOST_TEST((service_port(service_id(expected)) == expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(another_id_stands_for_no_port) {
  for (const std::uint64_t value : {0x0u, 0x7174u, 0x01071C06u, 0x02061C06u}) {
    BOOST_TEST(!service_port({value}).has_value());
  }
  BOOST_TEST(!service_port({0x0000000101061C06}).has_value());
  BOOST_TEST(!service_port({0x8000000001061C06}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(ip_cm_headers)

BOOST_AUTO_TEST_CASE(version_ip_version_and_size_are_judged) {
  BOOST_TEST((judge(header_bytes(0, 0x40)) == IpCmError::none));
  BOOST_TEST((judge(header_bytes(0, 0x6F)) == IpCmError::none));  // the low four bits are reserved
  BOOST_TEST((judge(header_bytes(0x10, 0x40)) == IpCmError::wrong_version));
  BOOST_TEST((judge(header_bytes(0x01, 0x40)) == IpCmError::wrong_version));
  for (const unsigned other : {0x00, 0x04, 0x06, 0x50, 0x70, 0xF0}) {
    BOOST_TEST((judge(header_bytes(0, other)) == IpCmError::wrong_ip_version));
  }
  for (std::size_t size = 0; size < kIpCmHeaderBytes; ++size) {
    const std::vector<std::byte> whole = header_bytes(0, 0x40);
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<long>(size));
    BOOST_TEST((judge(part) == IpCmError::too_short));
  }
}

BOOST_AUTO_TEST_CASE(ipv4_addresses_are_mapped_and_ipv6_addresses_whole) {
  IpCmHeader header;
  BOOST_TEST((decode(header_bytes(0, 0x40), header) == IpCmError::none));
  BOOST_TEST(header.source_port == 0x0203);
  BOOST_TEST((header.source == Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 16, 17, 18, 19}}));
  BOOST_TEST((header.destination == Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 32, 33, 34, 35}}));
  BOOST_TEST((decode(header_bytes(0, 0x60), header) == IpCmError::none));
  BOOST_TEST((header.source == Gid{{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}}));
  BOOST_TEST((header.destination == Gid{{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35}}));
}

BOOST_AUTO_TEST_CASE(a_mapped_address_of_ipv6_stays_as_it_is) {
  IpCmHeader header{.ip_version = IpVersion::v6, .source_port = 1, .source = {}, .destination = {}};
  header.source = Gid{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1}};
  std::vector<std::byte> bytes(kIpCmHeaderBytes);
  encode(header, bytes);
  BOOST_TEST(std::to_integer<int>(bytes[14]) == 0xFF);
  IpCmHeader again;
  BOOST_TEST((decode(bytes, again) == IpCmError::none));
  BOOST_TEST((again == header));
}

BOOST_AUTO_TEST_CASE(bytes_behind_the_header_stay) {
  std::vector<std::byte> bytes(kIpCmHeaderBytes + 4, std::byte{0xEE});
  encode(IpCmHeader{.ip_version = IpVersion::v4, .source_port = 1, .source = {}, .destination = {}}, bytes);
  for (std::size_t at = kIpCmHeaderBytes; at < bytes.size(); ++at) {
    BOOST_TEST(std::to_integer<int>(bytes[at]) == 0xEE);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(mad_guids)

BOOST_AUTO_TEST_CASE(a_guids_first_byte_is_its_most_significant_one) {
  const std::array<std::uint8_t, 8> bytes{0x81, 2, 3, 4, 5, 6, 7, 8};
  BOOST_TEST(to_guid(bytes).value == 0x8102030405060708u);
  BOOST_TEST(to_guid(std::as_bytes(std::span(bytes))).value == 0x8102030405060708u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
