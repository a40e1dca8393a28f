// Subnet management: where fields lie, a second time, counted in bits from the attribute's beginning as the
// tables of the field's programs have them; and what is refused.
#include <boost/test/unit_test.hpp>

#include "mad_samples.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/subnet_attributes.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::wire::mad::test {
namespace {

struct Bits {
  std::size_t first;
  std::size_t width;
};

// Sets the bits of a field and no others.
SmpData ones(Bits field) {
  SmpData data{};
  for (std::size_t bit = field.first; bit < field.first + field.width; ++bit)
    data[bit / 8] |= static_cast<std::byte>(0x80U >> bit % 8);
  return data;
}

template <class Value>
std::uint64_t number(const Value& value) {
  if constexpr (std::is_class_v<Value>) {
    return value.value;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

// `member` is all ones when the field's bits are, everything else is zero, and back.
template <class Attribute, class Member>
void check_place(Member Attribute::*member, Bits field) {
  BOOST_TEST_CONTEXT("field at bit " << field.first) {
    const SmpData data = ones(field);
    const auto attribute = decode_data<Attribute>(data);
    const std::uint64_t largest =
        field.width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << field.width) - 1;
    BOOST_TEST(number(attribute.*member) == largest);
    BOOST_TEST((encode_data(attribute) == data));
    auto cleared = attribute;
    cleared.*member = Member{};
    BOOST_TEST((encode_data(cleared) == SmpData{}));
  }
}

Smp directed_smp() {
  Smp smp;
  smp.header.management_class = ManagementClass::subnet_directed_route;
  smp.header.class_version = kSubnetClassVersion;
  smp.header.method = Method::get;
  smp.header.transaction = kTransaction;
  smp.header.attribute = {static_cast<std::uint16_t>(SubnetAttribute::node_info)};
  smp.m_key = 0x0102030405060708;
  smp.hop_pointer = 1;
  smp.hop_count = 2;
  smp.initial_path[1] = std::byte{3};
  smp.initial_path[63] = std::byte{9};
  smp.return_path[2] = std::byte{4};
  smp.data[63] = std::byte{0x77};
  return smp;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(subnet_management)

BOOST_AUTO_TEST_CASE(node_info_layout) {
  check_place(&NodeInfo::base_version, {0, 8});
  check_place(&NodeInfo::class_version, {8, 8});
  check_place(&NodeInfo::type, {16, 8});
  check_place(&NodeInfo::ports, {24, 8});
  check_place(&NodeInfo::system_guid, {32, 64});
  check_place(&NodeInfo::node_guid, {96, 64});
  check_place(&NodeInfo::port_guid, {160, 64});
  check_place(&NodeInfo::partition_capacity, {224, 16});
  check_place(&NodeInfo::device_id, {240, 16});
  check_place(&NodeInfo::revision, {256, 32});
  check_place(&NodeInfo::local_port, {288, 8});
  check_place(&NodeInfo::vendor_id, {296, 24});
}

BOOST_AUTO_TEST_CASE(switch_info_layout) {
  check_place(&SwitchInfo::linear_capacity, {0, 16});
  check_place(&SwitchInfo::random_capacity, {16, 16});
  check_place(&SwitchInfo::multicast_capacity, {32, 16});
  check_place(&SwitchInfo::linear_top, {48, 16});
  check_place(&SwitchInfo::default_port, {64, 8});
  check_place(&SwitchInfo::default_multicast_primary_port, {72, 8});
  check_place(&SwitchInfo::default_multicast_not_primary_port, {80, 8});
  check_place(&SwitchInfo::life_time, {88, 5});
  check_place(&SwitchInfo::port_state_change, {93, 1});
  check_place(&SwitchInfo::optimised_sl_to_vl, {94, 2});
  check_place(&SwitchInfo::lids_per_port, {96, 16});
  check_place(&SwitchInfo::partition_enforcement_capacity, {112, 16});
  check_place(&SwitchInfo::enforces_inbound, {128, 1});
  check_place(&SwitchInfo::enforces_outbound, {129, 1});
  check_place(&SwitchInfo::filters_raw_inbound, {130, 1});
  check_place(&SwitchInfo::filters_raw_outbound, {131, 1});
  check_place(&SwitchInfo::has_enhanced_port0, {132, 1});
  check_place(&SwitchInfo::multicast_top, {144, 16});
}

BOOST_AUTO_TEST_CASE(port_info_layout) {
  check_place(&PortInfo::m_key, {0, 64});
  check_place(&PortInfo::subnet_prefix, {64, 64});
  check_place(&PortInfo::lid, {128, 16});
  check_place(&PortInfo::manager_lid, {144, 16});
  check_place(&PortInfo::capability_mask, {160, 32});
  check_place(&PortInfo::diagnostic_code, {192, 16});
  check_place(&PortInfo::m_key_lease, {208, 16});
  check_place(&PortInfo::local_port, {224, 8});
  check_place(&PortInfo::width_enabled, {232, 8});
  check_place(&PortInfo::width_supported, {240, 8});
  check_place(&PortInfo::width_active, {248, 8});
  check_place(&PortInfo::speed_supported, {256, 4});
  check_place(&PortInfo::state, {260, 4});
  check_place(&PortInfo::physical_state, {264, 4});
  check_place(&PortInfo::down_default, {268, 4});
  check_place(&PortInfo::m_key_protection, {272, 2});
  check_place(&PortInfo::lmc, {277, 3});
  check_place(&PortInfo::speed_active, {280, 4});
  check_place(&PortInfo::speed_enabled, {284, 4});
  check_place(&PortInfo::neighbor_mtu, {288, 4});
  check_place(&PortInfo::manager_sl, {292, 4});
  check_place(&PortInfo::vl_capacity, {296, 4});
  check_place(&PortInfo::init_type, {300, 4});
  check_place(&PortInfo::vl_high_limit, {304, 8});
  check_place(&PortInfo::vl_arbitration_high_capacity, {312, 8});
  check_place(&PortInfo::vl_arbitration_low_capacity, {320, 8});
  check_place(&PortInfo::init_reply, {328, 4});
  check_place(&PortInfo::mtu_capacity, {332, 4});
  check_place(&PortInfo::vl_stall_count, {336, 3});
  check_place(&PortInfo::head_of_queue_life, {339, 5});
  check_place(&PortInfo::operational_vls, {344, 4});
  check_place(&PortInfo::enforces_inbound, {348, 1});
  check_place(&PortInfo::enforces_outbound, {349, 1});
  check_place(&PortInfo::filters_raw_inbound, {350, 1});
  check_place(&PortInfo::filters_raw_outbound, {351, 1});
  check_place(&PortInfo::m_key_violations, {352, 16});
  check_place(&PortInfo::pkey_violations, {368, 16});
  check_place(&PortInfo::qkey_violations, {384, 16});
  check_place(&PortInfo::guid_capacity, {400, 8});
  check_place(&PortInfo::client_reregister, {408, 1});
  check_place(&PortInfo::suppresses_multicast_pkey_traps, {409, 1});
  check_place(&PortInfo::subnet_timeout, {411, 5});
  check_place(&PortInfo::response_time, {419, 5});
  check_place(&PortInfo::local_physical_errors, {424, 4});
  check_place(&PortInfo::overrun_errors, {428, 4});
  check_place(&PortInfo::most_credits_hint, {432, 16});
  check_place(&PortInfo::link_round_trip, {456, 24});
  check_place(&PortInfo::capability_mask2, {480, 16});
  check_place(&PortInfo::extended_speed_active, {496, 4});
  check_place(&PortInfo::extended_speed_supported, {500, 4});
  check_place(&PortInfo::extended_speed_enabled, {507, 5});
}

BOOST_AUTO_TEST_CASE(sm_info_and_notice_layout) {
  check_place(&SmInfo::guid, {0, 64});
  check_place(&SmInfo::sm_key, {64, 64});
  check_place(&SmInfo::activity, {128, 32});
  check_place(&SmInfo::priority, {160, 4});
  check_place(&SmInfo::state, {164, 4});
  check_place(&Notice::is_generic, {0, 1});
  check_place(&Notice::type, {1, 7});
  check_place(&Notice::producer, {8, 24});
  check_place(&Notice::trap, {32, 16});
  check_place(&Notice::issuer, {48, 16});
  check_place(&Notice::toggle, {64, 1});
  check_place(&Notice::count, {65, 15});
  BOOST_TEST((decode_data<Notice>(ones({80, 432})).details.back() == std::byte{0xFF}));
}

BOOST_AUTO_TEST_CASE(header_of_a_directed_route) {
  Smp smp = directed_smp();
  smp.is_returning = true;
  smp.header.status = MadStatus::invalid_field;
  const Mad mad = encode(smp);
  BOOST_TEST((mad[4] == std::byte{0x80}));
  BOOST_TEST((mad[5] == std::byte{0x1C}));
  BOOST_TEST((mad[6] == std::byte{1}));
  BOOST_TEST((mad[7] == std::byte{2}));
  BOOST_TEST((mad[24] == std::byte{1} && mad[31] == std::byte{8}));
  BOOST_TEST((mad[32] == std::byte{0xFF} && mad[35] == std::byte{0xFF}));
  BOOST_TEST((mad[127] == std::byte{0x77}));
  BOOST_TEST((mad[128 + 1] == std::byte{3} && mad[128 + 63] == std::byte{9}));
  BOOST_TEST((mad[192 + 2] == std::byte{4}));
  Smp again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  BOOST_TEST((again == smp));
}

BOOST_AUTO_TEST_CASE(a_lid_routed_one_has_no_path) {
  Smp smp = directed_smp();
  smp.header.management_class = ManagementClass::subnet_lid_routed;
  smp.header.status = MadStatus::busy;
  const Mad mad = encode(smp);
  BOOST_TEST((mad[4] == std::byte{0} && mad[5] == std::byte{1} && mad[6] == std::byte{0}));
  BOOST_TEST((mad[32] == std::byte{0} && mad[129] == std::byte{0} && mad[194] == std::byte{0}));
  Smp again;
  BOOST_TEST(decode(mad, again) == MadError::none);
  BOOST_TEST(again.m_key == smp.m_key);
  BOOST_TEST((again.header.status == MadStatus::busy));
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  Smp smp = directed_smp();
  Smp again;
  Mad mad = encode(smp);
  mad[1] = std::byte{0x03};
  BOOST_TEST(decode(mad, again) == MadError::wrong_class);
  mad = encode(smp);
  mad[2] = std::byte{2};
  BOOST_TEST(decode(mad, again) == MadError::wrong_class_version);
  BOOST_TEST(decode(std::span<const std::byte>(mad).first(255), again) == MadError::wrong_size);
}

BOOST_AUTO_TEST_CASE(blocks_of_tables) {
  GuidBlock guids{};
  guids[7].value = 0x1122334455667788;
  BOOST_TEST((encode_block(guids)[56] == std::byte{0x11}));
  BOOST_TEST((decode_guids(encode_block(guids)) == guids));
  PkeyBlock pkeys{};
  pkeys[31] = 0x7FFF;
  BOOST_TEST((encode_block(pkeys)[62] == std::byte{0x7F}));
  BOOST_TEST((decode_words(encode_block(pkeys)) == pkeys));
}

BOOST_AUTO_TEST_CASE(modifiers) {
  BOOST_TEST(port_of_port_info(0x8000'0001) == 1u);
  BOOST_TEST(block_of_pkeys(0x0007'0001) == 1u);
  BOOST_TEST(port_of_pkeys(0x0007'0001) == 7u);
  BOOST_TEST(output_of_sl_to_vl(0x0201) == 1u);
  BOOST_TEST(input_of_sl_to_vl(0x0201) == 2u);
  BOOST_TEST(part_of_arbitration(0x0003'0005) == 3u);
  BOOST_TEST(port_of_arbitration(0x0003'0005) == 5u);
  BOOST_TEST(block_of_groups(0x2000'0003) == 3u);
  BOOST_TEST(position_of_groups(0x2000'0003) == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::mad::test
