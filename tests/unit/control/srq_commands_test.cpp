// Shared receive queues: sizes, limits, users.
#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/limits.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct WithSrq {
  Machine machine;
  OpenProgram program{machine};
  abi::CreateSrqReply srq{};

  int create(std::uint32_t max_wr, std::uint32_t max_sge) {
    return program.call(ControlOpcode::create_srq, abi::CreateSrqRequest{77, program.pd, max_wr, max_sge, 0},
                        srq);
  }
  int modify(std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit) {
    abi::ModifySrqReply reply{};
    const abi::ModifySrqRequest request{srq.handle, mask, max_wr, limit};
    const int error = program.call(ControlOpcode::modify_srq, request, reply);
    if (error == 0) modified = reply;
    return error;
  }
  abi::QuerySrqReply query() {
    abi::QuerySrqReply reply{};
    BOOST_REQUIRE(program.call(ControlOpcode::query_srq, abi::HandleRequest{srq.handle, 0}, reply) == 0);
    return reply;
  }
  int destroy() {
    abi::DestroyReply reply{};
    return program.call(ControlOpcode::destroy_srq, abi::HandleRequest{srq.handle, 0}, reply);
  }
  abi::ModifySrqReply modified{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(srq_commands, WithSrq)

BOOST_AUTO_TEST_CASE(sizes_are_given_as_asked_and_a_little_more) {
  BOOST_REQUIRE(create(100, 3) == 0);
  BOOST_TEST(srq.max_wr == 128u);
  BOOST_TEST(srq.slot_count == 128u);
  BOOST_TEST(srq.max_sge == 3u);
  BOOST_TEST(srq.slots.length >= std::uint64_t{srq.slot_count} * srq.slot_size);
  BOOST_TEST(srq.posted.length >= srq.slot_count * sizeof(std::uint32_t));
  BOOST_TEST(srq.number != 0u);
  BOOST_TEST(query().max_wr == 128u);
  BOOST_TEST(query().max_sge == 3u);
  BOOST_TEST(query().limit == 0u);
}

BOOST_AUTO_TEST_CASE(sizes_have_their_limits) {
  abi::QueryDeviceReply device{};
  BOOST_REQUIRE(program.call(ControlOpcode::query_device, abi::Empty{}, device) == 0);
  BOOST_TEST(create(device.max_srq_wr, device.max_srq_sge) == 0);
  BOOST_TEST(create(device.max_srq_wr + 1, 1) == EINVAL);
  BOOST_TEST(create(1, device.max_srq_sge + 1) == EINVAL);
  BOOST_TEST(create(0, 1) == EINVAL);
  BOOST_TEST(create(1, 0) == 0);
  BOOST_TEST((device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE) != 0u);
}

BOOST_AUTO_TEST_CASE(there_are_as_many_as_the_device_says) {
  const Share others = program.session().device.shared_receive_queues.take(limits::kMaxSrq - 1);
  BOOST_TEST(create(1, 1) == 0);
  BOOST_TEST(create(1, 1) == ENOMEM);
  BOOST_TEST(destroy() == 0);
  BOOST_TEST(create(1, 1) == 0);
}

BOOST_AUTO_TEST_CASE(the_domain_must_be_there_and_stays_while_in_use) {
  const std::uint32_t pd = program.pd;
  program.pd = 4711;
  BOOST_TEST(create(1, 1) == EINVAL);
  program.pd = pd;
  BOOST_REQUIRE(create(1, 1) == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, pd) == EBUSY);
  BOOST_TEST(destroy() == 0);
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, pd) == 0);
}

BOOST_AUTO_TEST_CASE(it_stays_while_a_queue_pair_takes_from_it) {
  BOOST_REQUIRE(create(4, 1) == 0);
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.srq = srq.handle;
  request.max_receive_wr = 16;
  abi::CreateQpReply qp{};
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  BOOST_TEST(qp.receive_slots == 0u);
  BOOST_TEST(qp.receive_ring.length == 0u);
  BOOST_TEST(destroy() == EBUSY);
  abi::DestroyReply reply{};
  BOOST_TEST(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, reply) == 0);
  BOOST_TEST(destroy() == 0);
  BOOST_TEST(program.call(ControlOpcode::create_qp, request, qp) == EINVAL);
}

BOOST_AUTO_TEST_CASE(others_do_not_reach_it) {
  BOOST_REQUIRE(create(4, 1) == 0);
  OpenProgram other(machine);
  abi::DestroyReply reply{};
  abi::ModifySrqReply modified_by_other{};
  abi::QuerySrqReply queried{};
  const abi::HandleRequest handle{srq.handle, 0};
  BOOST_TEST(other.call(ControlOpcode::destroy_srq, handle, reply) == EINVAL);
  BOOST_TEST(other.call(ControlOpcode::query_srq, handle, queried) == EINVAL);
  BOOST_TEST(other.call(ControlOpcode::modify_srq, abi::ModifySrqRequest{srq.handle, IBV_SRQ_LIMIT, 0, 1},
                        modified_by_other) == EINVAL);
  abi::CreateQpRequest request = other.qp_request(other.pd, other.cq);
  request.srq = srq.handle;
  abi::CreateQpReply qp{};
  BOOST_TEST(other.call(ControlOpcode::create_qp, request, qp) == EINVAL);
}

BOOST_AUTO_TEST_CASE(it_grows_and_shrinks) {
  BOOST_REQUIRE(create(4, 1) == 0);
  BOOST_REQUIRE(modify(IBV_SRQ_MAX_WR, 100, 0) == 0);
  BOOST_TEST(modified.max_wr == 128u);
  BOOST_TEST(modified.slot_count == 128u);
  BOOST_TEST(modified.slots.length >= std::uint64_t{128} * srq.slot_size);
  BOOST_REQUIRE(modify(IBV_SRQ_MAX_WR, 2, 0) == 0);
  BOOST_TEST(modified.max_wr == 2u);
  BOOST_TEST(modified.slot_count == 128u);
  BOOST_TEST(query().max_wr == 2u);
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, limits::kMaxSrqWr, 0) == 0);
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, limits::kMaxSrqWr + 1, 0) == EINVAL);
  BOOST_TEST(modify(IBV_SRQ_MAX_WR, 0, 0) == EINVAL);
  BOOST_TEST(query().max_wr == limits::kMaxSrqWr);
}

BOOST_AUTO_TEST_CASE(the_limit_is_at_most_the_size) {
  BOOST_REQUIRE(create(4, 1) == 0);
  BOOST_TEST(modify(IBV_SRQ_LIMIT, 0, 5) == EINVAL);
  BOOST_TEST(modify(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR, 8, 5) == 0);
  BOOST_TEST(modify(4, 0, 0) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_takes_it_along) {
  {
    OpenProgram other(machine);
    abi::CreateSrqReply reply{};
    const abi::CreateSrqRequest request{1, other.pd, 4, 1, 0};
    BOOST_REQUIRE(other.call(ControlOpcode::create_srq, request, reply) == 0);
    abi::CreateQpRequest qp = other.qp_request(other.pd, other.cq);
    qp.srq = reply.handle;
    abi::CreateQpReply made{};
    BOOST_REQUIRE(other.call(ControlOpcode::create_qp, qp, made) == 0);
  }
  BOOST_TEST(program.session().device.shared_receive_queues.used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
