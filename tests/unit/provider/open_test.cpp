#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstring>

#include "tests/unit/provider/rig.hpp"

namespace urnic::test {

BOOST_AUTO_TEST_SUITE(open_device)

BOOST_AUTO_TEST_CASE(a_context_knows_what_the_device_told) {
  OpenDevice open;
  BOOST_TEST(open.context->num_comp_vectors == 2);
  BOOST_TEST(open.context->async_fd >= 0);
  const auto request = fake_device().last_request<abi::OpenContextRequest>(abi::ControlOpcode::open_context);
  BOOST_TEST(request.version == abi::kControlVersion);
  BOOST_TEST(std::string(request.program) == program_invocation_short_name);
}

BOOST_AUTO_TEST_CASE(device_attributes_are_the_devices) {
  OpenDevice open;
  ibv_device_attr attributes{};
  BOOST_REQUIRE_EQUAL(ibv_query_device(open.context, &attributes), 0);
  BOOST_TEST(std::string(attributes.fw_ver) == "fake");
  BOOST_TEST(attributes.max_qp == 1234);
  BOOST_TEST(attributes.phys_port_cnt == 1);
}

// ibv_query_device passes a struct that is shorter than ibv_device_attr_ex.
BOOST_AUTO_TEST_CASE(nothing_is_written_behind_a_short_struct) {
  OpenDevice open;
  struct {
    ibv_device_attr attributes;
    unsigned char behind[256];
  } memory;
  std::memset(&memory, 0xEE, sizeof memory);
  BOOST_REQUIRE_EQUAL(ibv_query_device(open.context, &memory.attributes), 0);
  for (const unsigned char byte : memory.behind) BOOST_REQUIRE(byte == 0xEE);
}

BOOST_AUTO_TEST_CASE(extended_attributes_come_with_their_own) {
  OpenDevice open;
  ibv_device_attr_ex attributes;
  std::memset(&attributes, 0xEE, sizeof attributes);
  BOOST_REQUIRE_EQUAL(ibv_query_device_ex(open.context, nullptr, &attributes), 0);
  BOOST_TEST(attributes.phys_port_cnt_ex == 1u);
  BOOST_TEST(attributes.comp_mask == 0u);
  BOOST_TEST(attributes.odp_caps.general_caps == std::uint64_t{IBV_ODP_SUPPORT});
  ibv_query_device_ex_input input{1};
  BOOST_TEST(ibv_query_device_ex(open.context, &input, &attributes) == EINVAL);
}

BOOST_AUTO_TEST_CASE(port_attributes_are_the_devices) {
  OpenDevice open;
  ibv_port_attr attributes{};
  BOOST_REQUIRE_EQUAL(ibv_query_port(open.context, 1, &attributes), 0);
  BOOST_TEST(attributes.state == IBV_PORT_ACTIVE);
  BOOST_TEST(attributes.active_mtu == IBV_MTU_1024);
  BOOST_TEST(attributes.gid_tbl_len == 16);
  BOOST_TEST(int{attributes.link_layer} == IBV_LINK_LAYER_ETHERNET);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_the_callers_errno) {
  ibv_device** list = ibv_get_device_list(nullptr);
  BOOST_REQUIRE(list != nullptr && list[0] != nullptr);
  fake_device().refuse_next(abi::ControlOpcode::open_context, EPROTONOSUPPORT);
  errno = 0;
  BOOST_CHECK(ibv_open_device(list[0]) == nullptr);
  BOOST_TEST(errno == EPROTONOSUPPORT);
  ibv_free_device_list(list);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
