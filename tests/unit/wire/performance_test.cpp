// Performance management and vendor datagrams: where fields lie, and what is refused.
#include "wire/mad/performance.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "mad_samples.hpp"
#include "wire/byte_order.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::wire::mad::test {
namespace {

// Attributes begin here.
constexpr std::size_t kData = 64;

MadHeader answer_header() {
  MadHeader header;
  header.method = Method::get_response;
  header.transaction = kTransaction;
  return header;
}

template <class Attribute>
Mad zeros() {
  Mad mad = encode(Attribute{}, answer_header());
  std::fill(mad.begin() + kData, mad.end(), std::byte{0});
  return mad;
}

// The bits of `mad` from `first_bit` of the attribute on.
std::uint64_t number_at(const Mad& mad, std::size_t first_bit, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t bit = kData * 8 + first_bit; bit < kData * 8 + first_bit + width; ++bit) {
    value = value << 1 | (std::to_integer<unsigned>(mad[bit / 8]) >> (7 - bit % 8) & 1);
  }
  return value;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(performance)

BOOST_AUTO_TEST_CASE(port_counters_lie_where_perfquery_reads_them) {
  PortCounters counters;
  counters.port_select = 0x01;
  counters.counter_select = 0x0203;
  counters.symbol_errors = 0x0405;
  counters.link_error_recoveries = 0x06;
  counters.link_downed = 0x07;
  counters.receive_errors = 0x0809;
  counters.receive_remote_physical_errors = 0x0A0B;
  counters.receive_switch_relay_errors = 0x0C0D;
  counters.transmit_discards = 0x0E0F;
  counters.transmit_constraint_errors = 0x10;
  counters.receive_constraint_errors = 0x11;
  counters.counter_select2 = 0x12;
  counters.local_link_integrity_errors = 0x1;
  counters.excessive_buffer_overrun_errors = 0x3;
  counters.qp1_dropped = 0x1415;
  counters.vl15_dropped = 0x1617;
  counters.transmit_data = 0x18191A1B;
  counters.receive_data = 0x1C1D1E1F;
  counters.transmit_packets = 0x20212223;
  counters.receive_packets = 0x24252627;
  counters.transmit_wait = 0x28292A2B;
  const Mad mad = encode(counters, answer_header());
  // Each byte has its own number, but for the first, which is reserved.
  for (std::size_t at = 0; at < 44; ++at) {
    BOOST_TEST(std::to_integer<std::size_t>(mad[kData + at]) == at);
  }
  for (std::size_t at = kData + 44; at < kMadBytes; ++at) BOOST_TEST((mad[at] == std::byte{0}));
  PortCounters again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  BOOST_TEST((again == counters));
}

BOOST_AUTO_TEST_CASE(extended_counters_lie_where_perfquery_reads_them) {
  const PortCountersExtended counters{.port_select = 0x11,
                                      .counter_select = 0x2233,
                                      .transmit_data = 0x0101010101010101,
                                      .receive_data = 0x0202020202020202,
                                      .transmit_packets = 0x0303030303030303,
                                      .receive_packets = 0x0404040404040404,
                                      .unicast_transmit_packets = 0x0505050505050505,
                                      .unicast_receive_packets = 0x0606060606060606,
                                      .multicast_transmit_packets = 0x0707070707070707,
                                      .multicast_receive_packets = 0x0808080808080808};
  const Mad mad = encode(counters, answer_header());
  BOOST_TEST(number_at(mad, 8, 8) == 0x11u);
  BOOST_TEST(number_at(mad, 16, 16) == 0x2233u);
  for (std::size_t counter = 1; counter <= 8; ++counter) {
    BOOST_TEST(number_at(mad, counter * 64, 64) == 0x0101010101010101 * counter);
  }
  PortCountersExtended again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  BOOST_TEST((again == counters));
}

BOOST_AUTO_TEST_CASE(class_port_info_lies_where_the_specification_says) {
  ClassPortInfo info;
  info.capability_mask = kExtendedWidthSupported;
  info.capability_mask2 = 0x7FFFFFF;
  info.response_time = {18};
  info.redirect = {.gid = {},
                   .traffic_class = 0xA1,
                   .service_level = 0xB,
                   .flow_label = 0xC1C2C,
                   .lid = Lid{0xD1D2},
                   .pkey = Pkey{0xE1E2},
                   .hop_limit = 0xFF,
                   .qpn = Qpn{0x010203},
                   .qkey = Qkey{0x80010000}};
  info.trap = info.redirect;
  info.trap.gid.bytes.fill(0x77);
  const Mad mad = encode(info, answer_header());
  BOOST_TEST(number_at(mad, 0, 16) == 0x0101u);
  BOOST_TEST(number_at(mad, 16, 16) == 0x0200u);
  BOOST_TEST(number_at(mad, 32, 32) == 0xFFFFFFF2u);
  for (const std::size_t address : {64u, 320u}) {
    BOOST_TEST(number_at(mad, address, 64) == (address == 64 ? 0 : 0x7777777777777777u));
    BOOST_TEST(number_at(mad, address + 128, 32) == 0xA1BC1C2Cu);
    BOOST_TEST(number_at(mad, address + 160, 32) == 0xD1D2E1E2u);
    // Only the trap address has a hop limit.
    BOOST_TEST(number_at(mad, address + 192, 32) == (address == 64 ? 0x00010203u : 0xFF010203u));
    BOOST_TEST(number_at(mad, address + 224, 32) == 0x80010000u);
  }
  ClassPortInfo again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  info.redirect.hop_limit = 0;
  BOOST_TEST((again == info));
}

BOOST_AUTO_TEST_CASE(an_answer_repeats_the_transaction) {
  MadHeader header;
  BOOST_TEST(decode(zeros<PortCounters>(), header) == MadError::none);
  BOOST_TEST((header.transaction == kTransaction));
  BOOST_TEST((header.management_class == ManagementClass::performance));
  BOOST_TEST(int{header.class_version} == 1);
  BOOST_TEST((header.method == Method::get_response));
  BOOST_TEST(header.attribute.value == 0x0012);
}

BOOST_AUTO_TEST_CASE(other_datagrams_are_refused) {
  const Mad mad = zeros<PortCounters>();
  const auto judge = [&](std::size_t at, unsigned value) {
    Mad wrong = mad;
    wrong[at] = static_cast<std::byte>(value);
    PortCounters counters;
    return decode(wrong, counters);
  };
  BOOST_TEST(judge(3, 0x01) == MadError::none);
  BOOST_TEST(judge(3, 0x02) == MadError::none);
  BOOST_TEST(judge(0, 0) == MadError::wrong_base_version);
  BOOST_TEST(judge(1, 0x07) == MadError::wrong_class);
  BOOST_TEST(judge(2, 2) == MadError::wrong_class_version);
  BOOST_TEST(judge(3, 0x03) == MadError::wrong_method);
  BOOST_TEST(judge(17, 0x1D) == MadError::wrong_attribute);
  PortCounters counters;
  const std::vector<std::byte> part(mad.begin(), mad.end() - 1);
  BOOST_TEST(decode(part, counters) == MadError::wrong_size);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(vendor_mads)

BOOST_AUTO_TEST_CASE(a_ping_lies_where_ibping_reads_it) {
  VendorMad ping;
  ping.header.management_class = ManagementClass::openib_ping;
  ping.header.class_version = 1;
  ping.header.method = Method::get_response;
  ping.rmpp.fill(std::byte{0x11});
  ping.oui = kOpenIbOui;
  ping.data.fill(std::byte{0x22});
  const Mad mad = encode(ping);
  BOOST_TEST(load_be32(&mad[36]) == 0x00001405u);
  BOOST_TEST((mad[23] == std::byte{0} && mad[24] == std::byte{0x11} && mad[35] == std::byte{0x11}));
  BOOST_TEST((mad[40] == std::byte{0x22} && mad[255] == std::byte{0x22}));
  VendorMad again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  BOOST_TEST((again == ping));
}

BOOST_AUTO_TEST_CASE(only_classes_with_an_oui_are_read) {
  Mad mad = encode(VendorMad{});
  for (unsigned value = 0; value <= 0xFF; ++value) {
    mad[1] = static_cast<std::byte>(value);
    VendorMad vendor;
    const MadError expected = value >= 0x30 && value <= 0x4F ? MadError::none : MadError::wrong_class;
    BOOST_TEST(decode(mad, vendor) == expected);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
