// Where the fields of subnet administration's records lie (IBTA 15.2.5).
#include "wire/mad/subnet_administration.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace urnic::wire::mad {
namespace {

constexpr std::size_t kRecord = 56;

std::uint8_t byte_of(const Mad& mad, std::size_t place) { return std::to_integer<std::uint8_t>(mad[place]); }

Gid gid_from(std::uint8_t first) {
  Gid gid;
  for (std::size_t i = 0; i < gid.bytes.size(); ++i) gid.bytes[i] = static_cast<std::uint8_t>(first + i);
  return gid;
}

PathRecord full_path() {
  return {.service = {0x0102030405060708},
          .destination = gid_from(0x10),
          .source = gid_from(0x30),
          .destination_lid = {0x0A0B},
          .source_lid = {0x0C0D},
          .is_raw = true,
          .flow_label = 0xABCDE,
          .hop_limit = 0x3F,
          .traffic_class = 0x77,
          .is_reversible = true,
          .paths = 0x15,
          .pkey = {0x8123},
          .quality_class = 0x9AB,
          .service_level = 0xC,
          .mtu_selector = 2,
          .mtu = 4,
          .rate_selector = 2,
          .rate = 16,
          .packet_lifetime_selector = 1,
          .packet_lifetime = 18,
          .preference = 9};
}

MulticastMemberRecord full_member() {
  return {.group = gid_from(0x10),
          .port = gid_from(0x30),
          .qkey = {0x01234567},
          .group_lid = {0xC005},
          .mtu_selector = 2,
          .mtu = 4,
          .traffic_class = 0x77,
          .pkey = {0xFFFF},
          .rate_selector = 1,
          .rate = 16,
          .packet_lifetime_selector = 2,
          .packet_lifetime = 18,
          .service_level = 0xC,
          .flow_label = 0xABCDE,
          .hop_limit = 0x3F,
          .scope = 2,
          .join_state = join_state::kSendOnlyFullMember,
          .joins_for_other = true};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(subnet_administration)

BOOST_AUTO_TEST_CASE(a_request_has_its_class_its_components_and_its_record) {
  const MadHeader header{.method = Method::get, .transaction = {0x1122334455667788}};
  PathRecord record;
  record.destination = gid_from(0x10);
  const Mad mad =
      encode_request(header, path_component::kDestination | path_component::kQualityClass, record);
  MadHeader read;
  BOOST_TEST((decode(mad, read) == MadError::none));
  BOOST_TEST((read.management_class == ManagementClass::subnet_administration));
  BOOST_TEST(read.class_version == 2);
  BOOST_TEST((read.method == Method::get));
  BOOST_TEST(read.transaction.value == 0x1122334455667788u);
  BOOST_TEST(read.attribute.value == 0x35);
  BOOST_TEST(byte_of(mad, 54) == 0x40);
  BOOST_TEST(byte_of(mad, 55) == 0x04);
  BOOST_TEST(byte_of(mad, kRecord + 8) == 0x10);
  BOOST_TEST(byte_of(mad, kRecord + 23) == 0x1F);
}

BOOST_AUTO_TEST_CASE(a_path_record_lies_where_the_specification_says) {
  const Mad mad = encode_request({.method = Method::get}, 0, full_path());
  const std::pair<std::size_t, std::uint8_t> kPlaces[] = {
      {0, 0x01},  {7, 0x08},  {8, 0x10},  {24, 0x30}, {40, 0x0A}, {41, 0x0B}, {42, 0x0C}, {43, 0x0D},
      {44, 0x8A}, {45, 0xBC}, {46, 0xDE}, {47, 0x3F}, {48, 0x77}, {49, 0x95}, {50, 0x81}, {51, 0x23},
      {52, 0x9A}, {53, 0xBC}, {54, 0x84}, {55, 0x90}, {56, 0x52}, {57, 9}};
  for (const auto& [place, value] : kPlaces)
    BOOST_TEST(byte_of(mad, kRecord + place) == value,
               "byte " << place << " is " << unsigned{byte_of(mad, kRecord + place)});
  BOOST_TEST((decode_record<PathRecord>(mad) == full_path()));
  std::array<std::byte, kPathRecordBytes> alone{};
  std::copy_n(mad.begin() + kRecord, alone.size(), alone.begin());
  BOOST_TEST((decode_path(alone) == full_path()));
  BOOST_TEST((encode_path(full_path()) == alone));
}

BOOST_AUTO_TEST_CASE(a_member_record_lies_where_the_specification_says) {
  const Mad mad = encode_request({.method = Method::delete_record}, 0, full_member());
  const std::pair<std::size_t, std::uint8_t> kPlaces[] = {
      {0, 0x10},  {16, 0x30}, {32, 0x01}, {35, 0x67}, {36, 0xC0}, {37, 0x05},
      {38, 0x84}, {39, 0x77}, {40, 0xFF}, {42, 0x50}, {43, 0x92}, {44, 0xCA},
      {45, 0xBC}, {46, 0xDE}, {47, 0x3F}, {48, 0x28}, {49, 0x80}};
  for (const auto& [place, value] : kPlaces)
    BOOST_TEST(byte_of(mad, kRecord + place) == value,
               "byte " << place << " is " << unsigned{byte_of(mad, kRecord + place)});
  BOOST_TEST(byte_of(mad, 3) == 0x15);
  BOOST_TEST(byte_of(mad, 17) == 0x38);
  BOOST_TEST((decode_record<MulticastMemberRecord>(mad) == full_member()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad
