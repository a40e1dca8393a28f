// Address handles and multicast groups: which programs may make and join them, and how many.
#include <boost/test/unit_test.hpp>
#include <optional>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct Datagrams {
  Machine machine;
  OpenProgram program{machine};

  static abi::AddressVector to_urnic1() {
    abi::AddressVector path{};
    path.is_global = 1;
    path.port = 1;
    path.source_gid_index = 1;
    const std::uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
    std::copy(std::begin(gid), std::end(gid), path.destination_gid);
    return path;
  }
  int create_ah(const abi::AddressVector& path, std::uint32_t pd) {
    return program.call(ControlOpcode::create_ah, abi::CreateAhRequest{path, pd, 0}, ah);
  }
  std::uint32_t create_qp(std::uint32_t type = IBV_QPT_UD) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    abi::CreateQpReply reply{};
    return program.call(ControlOpcode::create_qp, request, reply) == 0 ? reply.handle : 0;
  }
  static abi::MulticastRequest group(std::uint32_t qp, std::uint32_t number = 0) {
    abi::MulticastRequest request{};
    request.group[0] = 0xFF;
    request.group[1] = 0x0E;
    request.group[14] = static_cast<std::uint8_t>(number >> 8);
    request.group[15] = static_cast<std::uint8_t>(number);
    request.qp = qp;
    return request;
  }
  int attach(const abi::MulticastRequest& request) {
    return program.call(ControlOpcode::attach_multicast, request);
  }
  int detach(const abi::MulticastRequest& request) {
    return program.call(ControlOpcode::detach_multicast, request);
  }
  // Whether a QP made with `flags` has its own datagrams to a group kept away; empty: it is not made.
  std::optional<bool> blocks_own_multicast(std::uint32_t flags, std::uint32_t type) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    request.flags = flags;
    abi::CreateQpReply reply{};
    if (program.call(ControlOpcode::create_qp, request, reply) != 0) return {};
    return program.session().context->qps.find(reply.handle)->shared->hosted->blocks_own_multicast();
  }
  const ServedDevice& device() { return program.session().device; }

  abi::CreateAhReply ah{};
};

BOOST_FIXTURE_TEST_SUITE(datagram_commands, Datagrams)

BOOST_AUTO_TEST_CASE(the_flag_of_creation_reaches_the_queue_pair) {
  for (const std::uint32_t type : {IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_RC}) {
    BOOST_TEST(blocks_own_multicast(0, type).value() == false);
    BOOST_TEST(blocks_own_multicast(abi::qp_block_self_multicast, type).value() == true);
    BOOST_TEST(!blocks_own_multicast(4, type).has_value());
    BOOST_TEST(blocks_own_multicast(abi::qp_scatter_fcs, type).has_value() == (type == IBV_QPT_RAW_PACKET));
  }
}

BOOST_AUTO_TEST_CASE(an_address_handle_is_made_and_destroyed_once) {
  BOOST_TEST(create_ah(to_urnic1(), program.pd) == 0);
  BOOST_TEST(device().address_handles.used() == 1u);
  BOOST_TEST((device().device->address_handles().find(ah.number) != nullptr));
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == EBUSY);
  BOOST_TEST(program.call(ControlOpcode::destroy_ah, ah.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_ah, ah.handle) == EINVAL);
  BOOST_TEST((device().device->address_handles().find(ah.number) == nullptr));
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == 0);
}

BOOST_AUTO_TEST_CASE(an_address_handle_needs_what_a_path_needs) {
  BOOST_TEST(create_ah(to_urnic1(), program.pd + 100) == EINVAL);
  abi::AddressVector path = to_urnic1();
  path.is_global = 0;
  BOOST_TEST(create_ah(path, program.pd) == EINVAL);
  path = to_urnic1();
  path.port = 2;
  BOOST_TEST(create_ah(path, program.pd) == EINVAL);
  path = to_urnic1();
  path.source_gid_index = 14;
  BOOST_TEST(create_ah(path, program.pd) == ENODATA);
  path.source_gid_index = 16;
  BOOST_TEST(create_ah(path, program.pd) == EINVAL);
  path = to_urnic1();
  path.destination_gid[15] = 77;
  BOOST_TEST(create_ah(path, program.pd) == ETIMEDOUT);
  BOOST_TEST(device().address_handles.used() == 0u);
}

BOOST_AUTO_TEST_CASE(handles_of_others_are_not_found) {
  OpenProgram other(machine);
  BOOST_TEST(create_ah(to_urnic1(), program.pd) == 0);
  BOOST_TEST(other.call(ControlOpcode::destroy_ah, ah.handle) == EINVAL);
  BOOST_TEST(other.call(ControlOpcode::attach_multicast, group(create_qp())) == EINVAL);
}

BOOST_AUTO_TEST_CASE(address_handles_end_at_the_limit) {
  for (std::uint32_t i = 0; i < limits::kMaxAh; ++i) BOOST_REQUIRE(create_ah(to_urnic1(), program.pd) == 0);
  BOOST_TEST(create_ah(to_urnic1(), program.pd) == ENOMEM);
  BOOST_TEST(program.call(ControlOpcode::destroy_ah, ah.handle) == 0);
  BOOST_TEST(create_ah(to_urnic1(), program.pd) == 0);
}

BOOST_AUTO_TEST_CASE(a_group_is_joined_and_left) {
  const std::uint32_t qp = create_qp();
  BOOST_TEST(attach(group(qp)) == 0);
  BOOST_TEST(attach(group(qp)) == 0);  // once is enough
  BOOST_TEST(device().multicast.members() == 1u);
  BOOST_TEST(program.call(ControlOpcode::destroy_qp, qp) == EBUSY);
  BOOST_TEST(detach(group(qp)) == 0);
  BOOST_TEST(detach(group(qp)) == EINVAL);
  BOOST_TEST(device().multicast.groups() == 0u);
  abi::DestroyReply reply{};
  BOOST_TEST(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp, 0}, reply) == 0);
}

BOOST_AUTO_TEST_CASE(only_datagram_qps_join_and_only_groups) {
  BOOST_TEST(attach(group(create_qp(IBV_QPT_RC))) == EINVAL);
  BOOST_TEST(attach(group(create_qp(IBV_QPT_UC))) == EINVAL);
  abi::MulticastRequest request = group(create_qp());
  request.group[0] = 0xFE;
  BOOST_TEST(attach(request) == EINVAL);
}

BOOST_AUTO_TEST_CASE(groups_end_at_the_limit) {
  const std::uint32_t qp = create_qp();
  for (std::uint32_t i = 0; i < limits::kMaxMulticastGroups; ++i) BOOST_REQUIRE(attach(group(qp, i)) == 0);
  BOOST_TEST(attach(group(qp, limits::kMaxMulticastGroups)) == ENOMEM);
  BOOST_TEST(attach(group(create_qp(), 0)) == 0);  // a group that there is
}

BOOST_AUTO_TEST_CASE(attachments_to_one_group_end_at_the_limit) {
  std::uint32_t qp = 0;
  for (std::uint32_t i = 0; i < limits::kMaxAttachmentsOfGroup; ++i) {
    BOOST_REQUIRE(attach(group(qp = create_qp())) == 0);
  }
  BOOST_TEST(attach(group(create_qp())) == ENOMEM);
  BOOST_TEST(detach(group(qp)) == 0);
  BOOST_TEST(attach(group(create_qp())) == 0);
}

BOOST_AUTO_TEST_CASE(attachments_in_all_end_at_the_limit) {
  static_assert(limits::kMaxAttachments % limits::kMaxMulticastGroups == 0);
  for (std::uint32_t i = 0; i < limits::kMaxAttachments / limits::kMaxMulticastGroups; ++i) {
    const std::uint32_t qp = create_qp();
    for (std::uint32_t j = 0; j < limits::kMaxMulticastGroups; ++j) BOOST_REQUIRE(attach(group(qp, j)) == 0);
  }
  BOOST_TEST(attach(group(create_qp())) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_leaves_nothing) {
  {
    OpenProgram other(machine);
    abi::CreateAhReply reply{};
    BOOST_TEST(other.call(ControlOpcode::create_ah, abi::CreateAhRequest{to_urnic1(), other.pd, 0}, reply) ==
               0);
    abi::CreateQpRequest request = other.qp_request(other.pd, other.cq);
    request.type = IBV_QPT_UD;
    abi::CreateQpReply qp{};
    BOOST_TEST(other.call(ControlOpcode::create_qp, request, qp) == 0);
    BOOST_TEST(other.call(ControlOpcode::attach_multicast, group(qp.handle)) == 0);
  }
  BOOST_TEST(device().address_handles.used() == 0u);
  BOOST_TEST(device().multicast.groups() == 0u);
  BOOST_TEST(device().multicast.members() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
