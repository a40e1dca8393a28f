// Events and tokens; multicast groups.
#include "device_model/abi/rdma_cm_messages.hpp"
#include "tests/unit/rdma_cm/rdma_cm_program.hpp"

namespace urnic::control::rdma_cm::test {

namespace {

constexpr std::uint32_t kWriteEvent = 24;

WriteEventCommand own_event(std::uint32_t id, std::uint64_t argument, std::uint32_t type = 19) {
  WriteEventCommand command{};
  command.id = id;
  command.event = type;
  command.argument[0] = argument;
  return command;
}

std::uint64_t argument_of(const rdma_ucm_event_resp& event) {
  std::uint64_t argument = 0;
  std::memcpy(&argument, &event.param, sizeof argument);
  return argument;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(events, World)

BOOST_AUTO_TEST_CASE(events_of_the_programs_own_come_back) {
  Program program(*this);
  const std::uint32_t id = program.create();
  BOOST_TEST(program.run(kWriteEvent, own_event(id, 16)) == 0);
  BOOST_TEST(program.event() == 19u);
  BOOST_TEST(argument_of(program.last) == 16u);
  BOOST_TEST(program.last.uid == 77u);
  BOOST_TEST(program.run(kWriteEvent, own_event(id, 16, 9)) == EINVAL);
}

BOOST_AUTO_TEST_CASE(there_are_as_many_tokens_as_events_up_to_a_bound) {
  Program program(*this);
  const std::uint32_t id = program.create();
  for (std::uint64_t i = 1; i <= 40; ++i) {
    BOOST_TEST(program.run(kWriteEvent, own_event(id, i)) == 0);
    BOOST_TEST(program.tokens == std::min<std::size_t>(i, abi::kMaxEventTokens));
  }
  for (std::uint64_t i = 1; i <= 40; ++i) {
    BOOST_TEST(program.event() == 19u);
    BOOST_TEST(argument_of(program.last) == i);
    BOOST_TEST(program.tokens == std::min<std::size_t>(40 - i, abi::kMaxEventTokens));
  }
  program.expect_nothing();
}

BOOST_AUTO_TEST_CASE(destroying_takes_events_and_tokens_away) {
  Program program(*this);
  const std::uint32_t first = program.create();
  const std::uint32_t second = program.create();
  for (std::uint64_t i = 0; i < 20; ++i) {
    program.run(kWriteEvent, own_event(first, i));
    program.run(kWriteEvent, own_event(second, i));
  }
  BOOST_TEST(program.event() == 19u);
  BOOST_TEST(program.destroy(first) == 0);
  BOOST_TEST(program.events_reported() == 1u);
  BOOST_TEST(program.tokens == 16u);
  BOOST_TEST(program.channel().events() == 20u);
  BOOST_TEST(program.destroy(second) == 0);
  BOOST_TEST(program.tokens == 0u);
  program.expect_nothing();
}

BOOST_AUTO_TEST_CASE(events_that_nobody_reads_are_bounded) {
  Program program(*this);
  const std::uint32_t id = program.create();
  std::size_t queued = 0;
  while (program.run(kWriteEvent, own_event(id, 1)) == 0) ++queued;
  BOOST_TEST(program.answer.error == ENOMEM);
  BOOST_TEST(queued == 1024u);
}

BOOST_AUTO_TEST_CASE(a_group_is_joined_and_left) {
  Program program(*this);
  const std::uint32_t id = program.create(RDMA_PS_UDP);
  BOOST_TEST(program.bind(id, "192.0.2.2") == 0);
  BOOST_TEST(program.resolve(id, address("239.1.2.3")) == 0);
  program.expect(EventType::address_resolved, id);
  BOOST_TEST(program.join(id, address("239.1.2.3"), 55) == 0);
  const std::uint32_t group = program.read_answer<rdma_ucm_create_id_resp>().id;
  program.expect(EventType::multicast_join, group);
  BOOST_TEST(program.last.uid == 55u);
  const rdma_ucm_ud_param& joined = program.last.param.ud;
  BOOST_TEST(joined.qp_num == 0xFFFFFFu);
  BOOST_TEST(joined.qkey == 0x01234567u);
  BOOST_TEST(joined.private_data_len == 0);
  BOOST_TEST(joined.ah_attr.is_global == 1);
  BOOST_TEST(joined.ah_attr.grh.sgid_index == 1);
  BOOST_TEST(joined.ah_attr.grh.hop_limit == 64);
  BOOST_TEST(joined.ah_attr.grh.dgid[10] == 0xFF);
  BOOST_TEST(joined.ah_attr.grh.dgid[12] == 239);
  BOOST_TEST(joined.ah_attr.grh.dgid[15] == 3);
  const rdma_ucm_destroy_id leave{0, group, 0};
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, leave) == 0);
  BOOST_TEST(program.events_reported() == 1u);
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, leave) == ENOENT);
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.events_reported() == 2u);
}

BOOST_AUTO_TEST_CASE(groups_that_cannot_be_joined) {
  Program program(*this);
  const std::uint32_t id = program.create(RDMA_PS_UDP);
  BOOST_TEST(program.join(id, address("239.1.2.3")) == EINVAL);  // not bound
  BOOST_TEST(program.bind(id, "192.0.2.2") == 0);
  BOOST_TEST(program.join(id, address("0.0.0.0")) == EINVAL);
  BOOST_TEST(program.join(id, address("192.0.2.1")) == EINVAL);
  BOOST_TEST(program.join(id, address("ff02::1")) == 524);
  BOOST_TEST(program.join(id, address("239.1.2.3"), 5, 2) == EINVAL);
  BOOST_TEST(program.join(id, address("239.1.2.3"), 5, 1) == 0);  // to send only
}

BOOST_AUTO_TEST_CASE(groups_go_with_their_identifier) {
  Program program(*this);
  const std::uint32_t id = program.create(RDMA_PS_UDP);
  BOOST_TEST(program.bind(id, "192.0.2.2") == 0);
  for (int i = 0; i < 3; ++i) BOOST_TEST(program.join(id, address("239.1.2.3")) == 0);
  BOOST_TEST(program.tokens == 3u);
  const rdma_ucm_destroy_id leave{0, 1, 0};
  BOOST_TEST(program.run(RDMA_USER_CM_CMD_LEAVE_MCAST, leave) == 0);
  BOOST_TEST(program.tokens == 2u);
  BOOST_TEST(program.destroy(id) == 0);
  BOOST_TEST(program.tokens == 0u);
  BOOST_TEST(fabric.quotas().used(Resource::rdma_cm_ids) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::rdma_cm::test
