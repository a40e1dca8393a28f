// Completion queues, their channels and their events.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

struct WithProgram {
  Machine machine;
  OpenProgram program{machine};
  Pipe pipe = make_pipe();

  bool add_channel() {
    std::vector<memory::Descriptor> descriptors;
    descriptors.push_back(duplicate(pipe.read_end.get()));
    descriptors.push_back(duplicate(pipe.write_end.get()));
    Message message = make_message(ControlOpcode::add_completion_channel, abi::AddCompletionChannelRequest{},
                                   std::move(descriptors));
    return program.dispatch_raw(message);
  }
  std::uint64_t channel() const { return inode_of(pipe.read_end.get()); }
  ObjectCounts counts() { return program.session().context->counts(); }
  int create(const abi::CreateCqRequest& request, abi::CreateCqReply& reply) {
    return program.call(ControlOpcode::create_cq, request, reply);
  }
  CompletionQueue& cq(std::uint32_t handle) { return *program.session().context->cqs.find(handle); }
  // A completion as the engine adds it, with the event that the program has asked for.
  void complete(std::uint32_t handle) {
    cq(handle).indices.as<abi::CompletionQueueIndices>()->arm.fetch_add(1u << 2);
    cq(handle).indices.as<abi::CompletionQueueIndices>()->arm.fetch_or(
        static_cast<std::uint32_t>(abi::ArmKind::next));
    cq(handle).queue->push(transport::Completion{});
    cq(handle).queue->notify({});
  }
};

BOOST_FIXTURE_TEST_SUITE(cq_commands, WithProgram)

BOOST_AUTO_TEST_CASE(at_least_the_entries_asked_for_are_given) {
  abi::CreateCqReply reply{};
  BOOST_REQUIRE(create({1, 0, 100, 0}, reply) == 0);
  BOOST_TEST(reply.entries == 128u);
  BOOST_TEST(reply.ring.length == 128 * sizeof(abi::Cqe));
  BOOST_TEST(reply.indices.length == sizeof(abi::CompletionQueueIndices));
  BOOST_REQUIRE(create({1, 0, 1, 0}, reply) == 0);
  BOOST_TEST(reply.entries == 1u);
}

// Making and resizing a large CQ are done a little at a time, so that other programs have their turns.
BOOST_AUTO_TEST_CASE(what_takes_long_is_done_in_portions) {
  const auto portions = [this](Message message) {
    int count = 1;
    while (program.dispatch_once(message) == Dispatched::not_yet) ++count;
    return count;
  };
  const auto create_cq = [](std::uint32_t entries) {
    return make_message(ControlOpcode::create_cq, abi::CreateCqRequest{1, 0, entries, 0});
  };
  BOOST_TEST(portions(create_cq(64)) == 1);
  BOOST_TEST(portions(create_cq(1 << 16)) >= 16);
  const std::uint32_t handle = program.create_cq(1 << 14);
  for (int i = 0; i < 1 << 14; ++i) cq(handle).queue->push(transport::Completion{});
  BOOST_TEST(portions(make_message(ControlOpcode::resize_cq, abi::ResizeCqRequest{handle, 1 << 15})) >=
             16 + 16);
}

// A program that gives up in between, and asks for something else.
BOOST_AUTO_TEST_CASE(a_resize_that_was_not_finished_harms_nothing) {
  const std::uint32_t handle = program.create_cq(1 << 14);
  for (int i = 0; i < 1 << 14; ++i) cq(handle).queue->push(transport::Completion{});
  Message given_up = make_message(ControlOpcode::resize_cq, abi::ResizeCqRequest{handle, 1 << 15});
  for (int i = 0; i < 40; ++i) BOOST_REQUIRE(program.dispatch_once(given_up) == Dispatched::not_yet);
  BOOST_REQUIRE(cq(handle).next_ring.length() != 0u);
  abi::ResizeCqReply reply{};
  BOOST_TEST(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{handle, 1 << 16}, reply) == 0);
  BOOST_TEST(reply.entries == 1u << 16);
  BOOST_TEST(cq(handle).ring.as<abi::Cqe>()[(1 << 14) - 1].phase == 1);
  BOOST_TEST(cq(handle).ring.as<abi::Cqe>()[1 << 14].phase == 0);
  BOOST_TEST(cq(handle).next_ring.length() == 0u);
  while (program.dispatch_once(given_up) == Dispatched::not_yet) {
  }
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, handle) == 0);
}

BOOST_AUTO_TEST_CASE(sizes_and_vectors_have_limits) {
  abi::CreateCqReply reply{};
  BOOST_TEST(create({1, 0, 0, 0}, reply) == EINVAL);
  BOOST_TEST(create({1, 0, limits::kMaxCqe + 1, 0}, reply) == EINVAL);
  BOOST_TEST(create({1, 0, ~0u, 0}, reply) == EINVAL);
  BOOST_TEST(create({1, 0, 16, limits::kCompletionVectors}, reply) == EINVAL);
  BOOST_TEST(create({1, 0, limits::kMaxCqe, 0}, reply) == 0);
  BOOST_TEST(create({1, 0, 16, 0, abi::cq_timestamps, 0}, reply) == 0);
  BOOST_TEST(create({1, 0, 16, 0, 1u << 7, 0}, reply) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_channel_is_known_by_its_pipe) {
  abi::CreateCqReply reply{};
  BOOST_TEST(create({1, channel(), 16, 0}, reply) == EINVAL);  // not announced yet
  BOOST_REQUIRE(add_channel());
  BOOST_TEST(program.reply().length == 0u);  // this message has no reply
  BOOST_TEST(create({1, channel(), 16, 0}, reply) == 0);
  BOOST_TEST(counts().channels == 1u);
}

BOOST_AUTO_TEST_CASE(channels_that_the_program_has_closed_are_dropped) {
  BOOST_REQUIRE(add_channel());
  pipe = make_pipe();
  BOOST_REQUIRE(add_channel());
  BOOST_TEST(counts().channels == 1u);
}

BOOST_AUTO_TEST_CASE(a_channel_in_use_stays) {
  BOOST_REQUIRE(add_channel());
  abi::CreateCqReply reply{};
  BOOST_REQUIRE(create({1, channel(), 16, 0}, reply) == 0);
  pipe = make_pipe();
  BOOST_REQUIRE(add_channel());
  BOOST_TEST(counts().channels == 2u);
}

BOOST_AUTO_TEST_CASE(destroying_counts_read_events_and_takes_unread_ones_out) {
  BOOST_REQUIRE(add_channel());
  abi::CreateCqReply dying{};
  abi::CreateCqReply staying{};
  BOOST_REQUIRE(create({0xAAAA, channel(), 16, 0}, dying) == 0);
  BOOST_REQUIRE(create({0xBBBB, channel(), 16, 0}, staying) == 0);
  complete(dying.handle);
  std::uint64_t element = 0;
  BOOST_REQUIRE(read(pipe.read_end.get(), &element, sizeof element) == sizeof element);
  BOOST_TEST(element == 0xAAAAu);
  complete(dying.handle);
  complete(staying.handle);
  complete(dying.handle);

  abi::DestroyReply reply{};
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{dying.handle, 0}, reply) == 0);
  BOOST_TEST(reply.completion_events_reported == 1u);
  BOOST_REQUIRE(read(pipe.read_end.get(), &element, sizeof element) == sizeof element);
  BOOST_TEST(element == 0xBBBBu);
  BOOST_TEST(read(pipe.read_end.get(), &element, sizeof element) == -1);
}

// Two processes that share a context after a fork may have CQs at one address.
BOOST_AUTO_TEST_CASE(a_cq_at_the_same_address_keeps_its_events) {
  BOOST_REQUIRE(add_channel());
  abi::CreateCqReply parents{};
  abi::CreateCqReply childs{};
  BOOST_REQUIRE(create({0xAAAA, channel(), 16, 0}, parents) == 0);
  BOOST_REQUIRE(create({0xAAAA, channel(), 16, 0}, childs) == 0);
  complete(parents.handle);
  complete(childs.handle);
  std::uint64_t element = 0;
  BOOST_REQUIRE(read(pipe.read_end.get(), &element, sizeof element) == sizeof element);  // the parent's

  abi::DestroyReply reply{};
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{parents.handle, 0}, reply) == 0);
  BOOST_TEST(reply.completion_events_reported == 1u);
  BOOST_REQUIRE(read(pipe.read_end.get(), &element, sizeof element) == sizeof element);
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{childs.handle, 0}, reply) == 0);
  BOOST_TEST(reply.completion_events_reported == 1u);
}

BOOST_AUTO_TEST_CASE(an_overrun_is_an_asynchronous_event_and_is_counted) {
  abi::CreateCqReply reply{};
  BOOST_REQUIRE(create({0xCCCC, 0, 1, 0}, reply) == 0);
  BOOST_REQUIRE(cq(reply.handle).queue->push(transport::Completion{}));
  BOOST_TEST(!cq(reply.handle).queue->push(transport::Completion{}));
  struct {
    std::uint64_t element;
    std::uint32_t type;
    std::uint32_t reserved;
  } event{};
  BOOST_REQUIRE(read(program.async_events().read_end.get(), &event, sizeof event) == sizeof event);
  BOOST_TEST(event.element == 0xCCCCu);
  BOOST_TEST(event.type == static_cast<std::uint32_t>(IBV_EVENT_CQ_ERR));
  abi::DestroyReply destroyed{};
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{reply.handle, 0}, destroyed) == 0);
  BOOST_TEST(destroyed.async_events_reported == 1u);
}

BOOST_AUTO_TEST_CASE(an_overrun_that_is_to_be_ignored_is_no_event) {
  abi::CreateCqReply reply{};
  BOOST_REQUIRE(create({0xCCCC, 0, 1, 0, abi::cq_ignore_overrun}, reply) == 0);
  for (int i = 0; i < 3; ++i) BOOST_TEST(cq(reply.handle).queue->push(transport::Completion{}));
  char event[16];
  BOOST_TEST(read(program.async_events().read_end.get(), event, sizeof event) == -1);
  // Resizing keeps what was not lost, and makes room.
  abi::ResizeCqReply resized{};
  BOOST_REQUIRE(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{reply.handle, 4}, resized) == 0);
  BOOST_TEST(cq(reply.handle).queue->indices().producer == 1u);
  BOOST_TEST(create({1, 0, 1, 0, 4}, reply) == EINVAL);  // no such flag
}

BOOST_AUTO_TEST_CASE(a_cq_with_qps_is_busy) {
  const std::uint32_t receive_cq = program.create_cq();
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.receive_cq = receive_cq;
  abi::CreateQpReply qp{};
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  abi::DestroyReply reply{};
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{program.cq, 0}, reply) == EBUSY);
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{receive_cq, 0}, reply) == EBUSY);
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, reply) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{receive_cq, 0}, reply) == 0);
  BOOST_TEST(program.call(ControlOpcode::destroy_cq, abi::HandleRequest{receive_cq, 0}, reply) == EINVAL);
}

BOOST_AUTO_TEST_CASE(resizing_keeps_unread_completions) {
  abi::CreateCqReply made{};
  BOOST_REQUIRE(create({1, 0, 4, 0}, made) == 0);
  for (std::uint32_t i = 0; i < 3; ++i) {
    transport::Completion completion;
    completion.wqe_index = 100 + i;
    BOOST_REQUIRE(cq(made.handle).queue->push(completion));
  }
  abi::ResizeCqReply resized{};
  BOOST_REQUIRE(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{made.handle, 50}, resized) == 0);
  BOOST_TEST(resized.entries == 64u);
  const auto* ring = cq(made.handle).ring.as<abi::Cqe>();
  BOOST_TEST(ring[0].wqe_index == 100u);
  BOOST_TEST(ring[2].wqe_index == 102u);
  BOOST_TEST(ring[3].phase == 0);
  BOOST_TEST(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{made.handle, 2}, resized) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::resize_cq, abi::ResizeCqRequest{made.handle, 0}, resized) == EINVAL);
}

BOOST_AUTO_TEST_CASE(moderation_is_the_queues_own) {
  abi::CreateCqReply reply{};
  BOOST_REQUIRE(add_channel());
  BOOST_REQUIRE(create({1, channel(), 16, 0}, reply) == 0);
  BOOST_TEST(program.call(ControlOpcode::modify_cq, abi::ModifyCqRequest{reply.handle + 1, 2, 9}) == EINVAL);
  BOOST_TEST(program.call(ControlOpcode::modify_cq, abi::ModifyCqRequest{reply.handle, 2, 65535}) == 0);
  complete(reply.handle);
  BOOST_TEST(cq(reply.handle).queue->completion_events().count == 0u);
  complete(reply.handle);
  BOOST_TEST(cq(reply.handle).queue->completion_events().count == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
