// Tag matching is added to an SRQ: sizes, limits, which QPs may use it, and its removal.
#include <boost/test/unit_test.hpp>

#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct WithTags {
  Machine machine;
  OpenProgram program{machine};
  abi::CreateSrqReply srq = create_srq();
  abi::CreateTagMatchingReply tags{};

  abi::CreateSrqReply create_srq() {
    abi::CreateSrqReply reply{};
    const abi::CreateSrqRequest request{77, program.pd, 16, 1, 0};
    BOOST_REQUIRE(program.call(ControlOpcode::create_srq, request, reply) == 0);
    return reply;
  }
  int create(std::uint32_t max_tags, std::uint32_t max_operations) {
    return program.call(ControlOpcode::create_tag_matching,
                        abi::CreateTagMatchingRequest{srq.handle, program.cq, max_tags, max_operations},
                        tags);
  }
  int destroy() {
    abi::DestroyReply reply{};
    return program.call(ControlOpcode::destroy_srq, abi::HandleRequest{srq.handle, 0}, reply);
  }
  abi::CreateQpRequest qp_request() {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.srq = srq.handle;
    request.max_send_wr = 0;
    return request;
  }
  int create_qp(const abi::CreateQpRequest& request) {
    return program.call(ControlOpcode::create_qp, request, qp);
  }
  int destroy_qp() {
    abi::DestroyReply reply{};
    return program.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, reply);
  }
  abi::CreateQpReply qp{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tag_matching_commands, WithTags)

BOOST_AUTO_TEST_CASE(the_ring_has_room_for_what_was_asked) {
  BOOST_REQUIRE(create(10, 5) == 0);
  BOOST_TEST(tags.operation_slots == 8u);
  BOOST_TEST(tags.operations.length >= 8 * sizeof(abi::TagOperation));
  BOOST_TEST(tags.indices.length >= sizeof(abi::TagMatchingIndices));
}

BOOST_AUTO_TEST_CASE(sizes_have_the_limits_that_the_device_reports) {
  abi::QueryDeviceReply device{};
  BOOST_REQUIRE(program.call(ControlOpcode::query_device, abi::Empty{}, device) == 0);
  BOOST_TEST(device.tm_flags == std::uint32_t{IBV_TM_CAP_RC});
  BOOST_TEST(device.tm_max_sge == abi::kMaxTagSge);
  BOOST_TEST(create(0, 1) == EINVAL);
  BOOST_TEST(create(1, 0) == EINVAL);
  BOOST_TEST(create(device.tm_max_tags + 1, 1) == EINVAL);
  BOOST_TEST(create(1, device.tm_max_ops + 1) == EINVAL);
  BOOST_TEST(create(device.tm_max_tags, device.tm_max_ops) == 0);
}

BOOST_AUTO_TEST_CASE(a_queue_becomes_one_once_and_before_queue_pairs_are_on_it) {
  BOOST_REQUIRE(create(4, 4) == 0);
  BOOST_TEST(create(4, 4) == EINVAL);
  srq = create_srq();
  BOOST_REQUIRE(create_qp(qp_request()) == 0);
  BOOST_TEST(create(4, 4) == EBUSY);
  BOOST_TEST(destroy_qp() == 0);
  BOOST_TEST(create(4, 4) == 0);
}

BOOST_AUTO_TEST_CASE(queue_and_completion_queue_must_be_the_program_s_own) {
  OpenProgram other(machine);
  abi::CreateTagMatchingReply reply{};
  const auto create_by_other = [&](std::uint32_t of_srq, std::uint32_t of_cq) {
    return other.call(ControlOpcode::create_tag_matching, abi::CreateTagMatchingRequest{of_srq, of_cq, 4, 4},
                      reply);
  };
  BOOST_TEST(create_by_other(srq.handle, other.cq) == EINVAL);
  const std::uint32_t cq = program.cq;
  program.cq = 4711;
  BOOST_TEST(create(4, 4) == EINVAL);
  program.cq = cq;
  BOOST_TEST(create(4, 4) == 0);
}

BOOST_AUTO_TEST_CASE(the_completion_queue_stays_as_long_as_it) {
  const std::uint32_t own_cq = program.cq;
  program.cq = program.create_cq();
  BOOST_REQUIRE(create(4, 4) == 0);
  abi::DestroyReply reply{};
  const abi::HandleRequest cq{program.cq, 0};
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, cq, reply) == EBUSY);
  BOOST_TEST(destroy() == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, cq, reply) == 0);
  program.cq = own_cq;
}

// Their send queue is the device's, and READs into buffers need the right protection domain.
BOOST_AUTO_TEST_CASE(only_reliable_connections_without_sends_of_their_own_are_on_it) {
  BOOST_REQUIRE(create(4, 4) == 0);
  abi::CreateQpRequest request = qp_request();
  request.max_send_wr = 1;
  BOOST_TEST(create_qp(request) == EINVAL);
  request = qp_request();
  request.type = IBV_QPT_UD;
  BOOST_TEST(create_qp(request) == EINVAL);
  request = qp_request();
  request.pd = program.allocate_pd();
  BOOST_TEST(create_qp(request) == EINVAL);
  BOOST_REQUIRE(create_qp(qp_request()) == 0);
  BOOST_TEST(qp.send_slots == 0u);
  BOOST_TEST(qp.receive_slots == 0u);
  BOOST_TEST(destroy() == EBUSY);
  BOOST_TEST(destroy_qp() == 0);
  BOOST_TEST(destroy() == 0);
}

BOOST_AUTO_TEST_CASE(its_doorbell_is_given_back) {
  BOOST_REQUIRE(create(4, 4) == 0);
  const std::uint32_t doorbell = tags.doorbell;
  BOOST_TEST(destroy() == 0);
  srq = create_srq();
  BOOST_REQUIRE(create(4, 4) == 0);
  BOOST_TEST(tags.doorbell == doorbell);
}

BOOST_AUTO_TEST_CASE(a_program_that_ends_takes_it_along) {
  {
    OpenProgram other(machine);
    abi::CreateSrqReply queue{};
    const abi::CreateSrqRequest request{1, other.pd, 4, 1, 0};
    BOOST_REQUIRE(other.call(ControlOpcode::create_srq, request, queue) == 0);
    abi::CreateTagMatchingReply reply{};
    BOOST_REQUIRE(other.call(ControlOpcode::create_tag_matching,
                             abi::CreateTagMatchingRequest{queue.handle, other.cq, 4, 4}, reply) == 0);
    abi::CreateQpRequest on_it = other.qp_request(other.pd, other.cq);
    on_it.srq = queue.handle;
    on_it.max_send_wr = 0;
    BOOST_REQUIRE(other.call(ControlOpcode::create_qp, on_it, qp) == 0);
  }
  BOOST_TEST(program.session().device.shared_receive_queues.used() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
