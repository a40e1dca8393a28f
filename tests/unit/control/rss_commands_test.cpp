// RSS queue pairs: which queues they may spread frames over, and which objects keep which.
#include <boost/test/unit_test.hpp>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct RssProgram {
  Machine machine;
  OpenProgram program{machine};
  std::uint32_t queue = create_queue(program);

  static std::uint32_t create_queue(OpenProgram& program, std::uint32_t type = IBV_QPT_RAW_PACKET) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    abi::CreateQpReply reply{};
    return program.call(ControlOpcode::create_qp, request, reply) == 0 ? reply.handle : 0;
  }
  abi::CreateRssQpRequest request(std::uint32_t count = 1) const {
    abi::CreateRssQpRequest asked{};
    asked.pd = program.pd;
    asked.hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4;
    asked.queue_count = count;
    for (std::uint32_t i = 0; i < std::min(count, abi::kMaxRssQueues); ++i) asked.queues[i] = queue;
    return asked;
  }
  int create(const abi::CreateRssQpRequest& request) {
    return program.call(ControlOpcode::create_rss_qp, request, made);
  }
  int destroy_queue() {
    abi::DestroyReply reply{};
    return program.call(ControlOpcode::destroy_qp, abi::HandleRequest{queue, 0}, reply);
  }
  int create_flow(std::uint32_t qp) {
    abi::CreateFlowRequest request{};
    request.qp = qp;
    request.port = 1;
    return program.call(ControlOpcode::create_flow, request, flow);
  }
  ServedDevice& device() { return program.session().device; }
  abi::HandleReply made{};
  abi::HandleReply flow{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rss_commands, RssProgram)

BOOST_AUTO_TEST_CASE(it_holds_its_queues_and_its_flows_hold_it) {
  const std::uint64_t before = device().queue_pairs.used();
  BOOST_TEST(create(request(4)) == 0);
  BOOST_TEST(device().queue_pairs.used() == before + 1);
  BOOST_TEST(destroy_queue() == EBUSY);
  BOOST_TEST(create_flow(made.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_rss_qp, made.handle) == EBUSY);
  BOOST_TEST(program.call(ControlOpcode::destroy_flow, flow.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_rss_qp, made.handle) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_rss_qp, made.handle) == EINVAL);
  BOOST_TEST(destroy_queue() == 0);
  BOOST_TEST(device().queue_pairs.used() == before - 1);
}

BOOST_AUTO_TEST_CASE(its_handle_is_no_other_queue_pairs) {
  BOOST_TEST(create(request()) == 0);
  abi::DestroyReply reply{};
  BOOST_TEST(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{made.handle, 0}, reply) == EINVAL);
  BOOST_TEST(create_flow(made.handle + 1) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::destroy_rss_qp, queue) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_table_has_a_power_of_two_of_queues_up_to_the_limit) {
  for (const std::uint32_t count : {0u, 3u, 127u, abi::kMaxRssQueues + 1, 2 * abi::kMaxRssQueues, ~0u})
    BOOST_TEST(create(request(count)) == EINVAL, count);
  for (const std::uint32_t count : {1u, 2u, abi::kMaxRssQueues})
    BOOST_TEST(create(request(count)) == 0, count);
}

BOOST_AUTO_TEST_CASE(queues_are_raw_packet_queue_pairs_of_the_same_program) {
  abi::CreateRssQpRequest wrong = request(2);
  wrong.queues[1] = create_queue(program, IBV_QPT_UD);
  BOOST_TEST(create(wrong) == EINVAL);
  wrong.queues[1] = 0;
  BOOST_TEST(create(wrong) == EINVAL);
  BOOST_TEST(create(request()) == 0);
  wrong.queues[1] = made.handle;
  BOOST_TEST(create(wrong) == EINVAL);
  wrong = request();
  wrong.pd += 100;
  BOOST_TEST(create(wrong) == EINVAL);
  OpenProgram other(machine);
  abi::CreateRssQpRequest foreign = request();
  foreign.pd = other.pd;
  BOOST_TEST(other.call(ControlOpcode::create_rss_qp, foreign, made) == EINVAL);
}

BOOST_AUTO_TEST_CASE(only_fields_that_are_hashed_are_taken) {
  abi::CreateRssQpRequest hashed = request();
  hashed.hash_fields = 0xFF;
  BOOST_TEST(create(hashed) == 0);
  hashed.hash_fields = 0;
  BOOST_TEST(create(hashed) == 0);
  for (const std::uint64_t field :
       {std::uint64_t{IBV_RX_HASH_IPSEC_SPI}, std::uint64_t{1} << 31, std::uint64_t{1} << 63}) {
    hashed.hash_fields = field;
    BOOST_TEST(create(hashed) == EOPNOTSUPP);
  }
}

BOOST_AUTO_TEST_CASE(they_count_as_queue_pairs) {
  Share others = device().queue_pairs.take(limits::kMaxQp - device().queue_pairs.used());
  BOOST_TEST(create(request()) == ENOMEM);
  others = {};
  others = device().queue_pairs.take(limits::kMaxQp - 1 - device().queue_pairs.used());
  BOOST_TEST(create(request()) == 0);
  BOOST_TEST(create(request()) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(a_program_that_goes_takes_all_of_it_with_it) {
  const std::uint64_t before = device().queue_pairs.used();
  {
    OpenProgram short_lived(machine);
    abi::CreateRssQpRequest own = request();
    own.pd = short_lived.pd;
    own.queues[0] = create_queue(short_lived);
    BOOST_TEST(short_lived.call(ControlOpcode::create_rss_qp, own, made) == 0);
    abi::CreateFlowRequest to_it{};
    to_it.qp = made.handle;
    to_it.port = 1;
    BOOST_TEST(short_lived.call(ControlOpcode::create_flow, to_it, flow) == 0);
  }
  BOOST_TEST(device().queue_pairs.used() == before);
  BOOST_TEST(device().flows.used() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
