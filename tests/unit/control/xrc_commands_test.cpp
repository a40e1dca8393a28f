// XRC domains, their SRQs and target QPs: which programs may share them, how long they live
// (ibv_open_xrcd(3), ibv_open_qp(3); errors as the kernel's ib_uverbs_open_xrcd has them).
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <iterator>

#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/queue_pair/event_listeners.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "tests/unit/control/direct_program.hpp"
#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

constexpr std::uint32_t kCreate = abi::xrcd_create;
constexpr std::uint32_t kExclusive = abi::xrcd_create | abi::xrcd_exclusive;

struct XrcProgram : OpenProgram {
  using OpenProgram::OpenProgram;

  // The errno; the handle is in `xrcd`.
  int open_domain(std::uint32_t flags, int file = -1) {
    std::vector<memory::Descriptor> descriptors;
    if (file >= 0) descriptors.push_back(duplicate(file));
    abi::HandleReply reply{};
    const int error =
        call(ControlOpcode::open_xrcd, abi::OpenXrcdRequest{flags, 0}, reply, std::move(descriptors));
    if (error == 0) xrcd = reply.handle;
    return error;
  }
  int close_domain(std::uint32_t handle) { return call(ControlOpcode::close_xrcd, handle); }

  int create_srq(std::uint32_t in, std::uint32_t on_cq, std::uint32_t max_wr = 4) {
    abi::CreateXrcSrqRequest request{};
    request.queue = {77, pd, max_wr, 1, 0};
    request.xrcd = in;
    request.cq = on_cq;
    return call(ControlOpcode::create_xrc_srq, request, srq);
  }
  int create_qp(std::uint32_t type, std::uint32_t in, abi::CreateQpReply& reply) {
    abi::CreateQpRequest request{};
    request.user_handle = 500;
    request.type = type;
    request.xrcd = in;
    return call(ControlOpcode::create_qp, request, reply);
  }
  int create_target() { return create_qp(IBV_QPT_XRC_RECV, xrcd, target); }
  int open_target(std::uint32_t qpn, std::uint64_t user_handle = 600) {
    abi::HandleReply reply{};
    const abi::OpenQpRequest request{user_handle, xrcd, qpn, IBV_QPT_XRC_RECV, 0};
    const int error = call(ControlOpcode::open_qp, request, reply);
    if (error == 0) opened_qp = reply.handle;
    return error;
  }
  int destroy(ControlOpcode opcode, std::uint32_t handle) {
    abi::DestroyReply reply{};
    return call(opcode, abi::HandleRequest{handle, 0}, reply);
  }
  int modify(std::uint32_t handle, std::uint32_t state) {
    abi::ModifyQpRequest request{};
    request.handle = handle;
    request.mask = IBV_QP_STATE;
    if (state == IBV_QPS_INIT) request.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    request.attributes.state = state;
    request.attributes.port = 1;
    request.attributes.access_flags = IBV_ACCESS_REMOTE_WRITE;
    return call(ControlOpcode::modify_qp, request);
  }
  abi::QueryQpReply query(std::uint32_t handle) {
    abi::QueryQpReply reply{};
    BOOST_REQUIRE(call(ControlOpcode::query_qp, abi::HandleRequest{handle, 0}, reply) == 0);
    return reply;
  }

  std::uint32_t xrcd = 0;
  std::uint32_t opened_qp = 0;
  abi::CreateSrqReply srq{};
  abi::CreateQpReply target{};
};

struct WithPrograms {
  Machine machine;
  std::optional<XrcProgram> maker{std::in_place, machine};
  std::optional<XrcProgram> other{std::in_place, machine};
  TemporaryDirectory directory;

  memory::Descriptor file(const char* name) {
    return memory::Descriptor(open((directory.path() / name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  ServedDevice& device() { return *machine.fabric.devices()[0]; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(xrc_commands, WithPrograms)

BOOST_AUTO_TEST_CASE(a_domain_is_shared_by_its_file_under_any_name) {
  const memory::Descriptor one = file("one");
  BOOST_REQUIRE(::link((directory.path() / "one").c_str(), (directory.path() / "alias").c_str()) == 0);
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  const std::uint32_t qpn = maker->target.qpn;
  BOOST_REQUIRE(other->open_domain(0, file("alias").get()) == 0);
  BOOST_TEST(other->open_target(qpn) == 0);
  BOOST_REQUIRE(other->open_domain(kCreate, file("two").get()) == 0);
  BOOST_TEST(other->open_target(qpn) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_domain_that_is_not_there_is_made_only_if_asked) {
  const memory::Descriptor one = file("one");
  BOOST_TEST(maker->open_domain(0, one.get()) == EAGAIN);
  BOOST_TEST(maker->open_domain(abi::xrcd_exclusive, one.get()) == EAGAIN);
  BOOST_TEST(maker->open_domain(kExclusive, one.get()) == 0);
  BOOST_TEST(other->open_domain(kExclusive, one.get()) == EINVAL);
  BOOST_TEST(other->open_domain(kCreate, one.get()) == 0);
}

BOOST_AUTO_TEST_CASE(without_a_file_it_is_private) {
  BOOST_REQUIRE(maker->open_domain(0) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_REQUIRE(other->open_domain(kExclusive) == 0);
  BOOST_TEST(other->open_target(maker->target.qpn) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_domain_is_one_devices) {
  const memory::Descriptor one = file("one");
  XrcProgram elsewhere(machine, 1);
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_TEST(elsewhere.open_domain(0, one.get()) == EAGAIN);
}

BOOST_AUTO_TEST_CASE(it_ends_with_the_last_who_has_it_open) {
  const memory::Descriptor one = file("one");
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_REQUIRE(other->open_domain(0, one.get()) == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == EINVAL);
  BOOST_TEST(maker->open_domain(0, one.get()) == 0);
  other.reset();
  maker.reset();
  BOOST_TEST(device().xrc_domains_by_file.empty());
  BOOST_TEST(device().xrc_domains.used() == 0u);
  XrcProgram later(machine);
  BOOST_TEST(later.open_domain(0, one.get()) == EAGAIN);
}

// The device holds the file, not what is open: a pipe's reader sees its end.
BOOST_AUTO_TEST_CASE(what_the_descriptor_had_open_is_not_kept_open) {
  Pipe pipe = make_pipe();
  BOOST_REQUIRE(maker->open_domain(kCreate, pipe.write_end.get()) == 0);
  pipe.write_end.reset();
  char byte;
  BOOST_TEST(read(pipe.read_end.get(), &byte, 1) == 0);
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused) {
  BOOST_TEST(maker->open_domain(4) == EINVAL);
  std::vector<memory::Descriptor> two;
  two.push_back(file("one"));
  two.push_back(file("two"));
  abi::HandleReply reply{};
  BOOST_TEST(maker->call(ControlOpcode::open_xrcd, abi::OpenXrcdRequest{kCreate, 0}, reply, std::move(two)) ==
             EINVAL);
  BOOST_TEST(maker->close_domain(4711) == EINVAL);
}

BOOST_AUTO_TEST_CASE(there_are_as_many_as_the_limit) {
  const Share others = device().xrc_domains.take(limits::kMaxXrcd - 1);
  BOOST_TEST(maker->open_domain(kCreate) == 0);
  BOOST_TEST(maker->open_domain(kCreate) == ENOMEM);
  BOOST_TEST(maker->close_domain(maker->xrcd) == 0);
  BOOST_TEST(maker->open_domain(kCreate) == 0);
}

BOOST_AUTO_TEST_CASE(it_is_not_closed_while_something_of_the_context_is_in_it) {
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_srq(maker->xrcd, maker->cq) == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == EBUSY);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_srq, maker->srq.handle) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == EBUSY);
  BOOST_REQUIRE(maker->open_target(maker->target.qpn) == 0);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_qp, maker->target.handle) == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == EBUSY);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_qp, maker->opened_qp) == 0);
  BOOST_TEST(maker->close_domain(maker->xrcd) == 0);
}

// Two processes that share a context after a fork may open one QP at one address.
BOOST_AUTO_TEST_CASE(each_opener_at_one_address_has_its_own_events) {
  constexpr std::uint64_t kAddress = 500;  // create_target's
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_REQUIRE(maker->open_target(maker->target.qpn, kAddress) == 0);
  engine::EventListeners& listeners =
      maker->session().context->qps.find(maker->opened_qp)->shared->hosted->listeners();
  BOOST_REQUIRE(std::distance(listeners.begin(), listeners.end()) == 2);
  for (int i = 0; i < 2; ++i) listeners.begin()[1].tell(transport::AsyncEvent::qp_fatal);
  char event[16];
  BOOST_REQUIRE(read(maker->async_events().read_end.get(), event, sizeof event) == sizeof event);

  abi::DestroyReply reply{};
  BOOST_REQUIRE(maker->call(ControlOpcode::destroy_qp, abi::HandleRequest{maker->opened_qp, 0}, reply) == 0);
  BOOST_TEST(reply.async_events_reported == 1u);
  BOOST_TEST(read(maker->async_events().read_end.get(), event, sizeof event) == -1);
  BOOST_REQUIRE(maker->call(ControlOpcode::destroy_qp, abi::HandleRequest{maker->target.handle, 0}, reply) ==
                0);
  BOOST_TEST(reply.async_events_reported == 0u);
}

BOOST_AUTO_TEST_CASE(an_srq_needs_a_domain_and_a_cq_which_stays_while_in_use) {
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(other->open_domain(kCreate) == 0);
  BOOST_TEST(maker->create_srq(4711, maker->cq) == EINVAL);
  BOOST_TEST(maker->create_srq(maker->xrcd, 4711) == EINVAL);
  BOOST_TEST(maker->create_srq(maker->xrcd, maker->cq, limits::kMaxSrqWr + 1) == EINVAL);
  BOOST_REQUIRE(maker->create_srq(maker->xrcd, maker->cq, limits::kMaxSrqWr) == 0);
  BOOST_TEST(maker->srq.number != 0u);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_cq, maker->cq) == EBUSY);
  BOOST_TEST(maker->call(ControlOpcode::deallocate_pd, maker->pd) == EBUSY);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_srq, maker->srq.handle) == 0);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_cq, maker->cq) == 0);
}

BOOST_AUTO_TEST_CASE(an_srq_of_a_domain_is_for_no_qp_of_another_kind) {
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_srq(maker->xrcd, maker->cq) == 0);
  abi::CreateQpRequest request = maker->qp_request(maker->pd, maker->cq);
  request.srq = maker->srq.handle;
  abi::CreateQpReply reply{};
  BOOST_TEST(maker->call(ControlOpcode::create_qp, request, reply) == EINVAL);
  request.type = IBV_QPT_XRC_SEND;
  BOOST_TEST(maker->call(ControlOpcode::create_qp, request, reply) == EINVAL);
  abi::CreateTagMatchingReply tags{};
  const abi::CreateTagMatchingRequest matching{maker->srq.handle, maker->cq, 4, 4};
  BOOST_TEST(maker->call(ControlOpcode::create_tag_matching, matching, tags) == EINVAL);
}

BOOST_AUTO_TEST_CASE(an_initiator_has_a_send_queue_only_and_needs_no_receive_cq) {
  abi::CreateQpRequest request = maker->qp_request(maker->pd, maker->cq);
  request.type = IBV_QPT_XRC_SEND;
  request.receive_cq = 0;
  abi::CreateQpReply reply{};
  BOOST_REQUIRE(maker->call(ControlOpcode::create_qp, request, reply) == 0);
  BOOST_TEST(reply.send_slots == 4u);
  BOOST_TEST(reply.receive_slots == 0u);
  BOOST_TEST(maker->modify(reply.handle, IBV_QPS_INIT) == 0);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_qp, reply.handle) == 0);
  request.send_cq = 4711;
  BOOST_TEST(maker->call(ControlOpcode::create_qp, request, reply) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_target_has_no_queues_and_needs_a_domain) {
  BOOST_TEST(maker->create_target() == EINVAL);
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_TEST(maker->target.send_slots == 0u);
  BOOST_TEST(maker->target.receive_slots == 0u);
  BOOST_TEST(maker->target.indices.length == 0u);
  BOOST_TEST(maker->target.qpn != 0u);
}

BOOST_AUTO_TEST_CASE(who_opens_a_target_shares_its_state) {
  const memory::Descriptor one = file("one");
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_REQUIRE(other->open_domain(0, one.get()) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_REQUIRE(other->open_target(maker->target.qpn) == 0);
  BOOST_TEST(maker->modify(maker->target.handle, IBV_QPS_INIT) == 0);
  const abi::QueryQpReply seen = other->query(other->opened_qp);
  BOOST_TEST(seen.attributes.state == std::uint32_t{IBV_QPS_INIT});
  BOOST_TEST(seen.attributes.access_flags == std::uint32_t{IBV_ACCESS_REMOTE_WRITE});
  BOOST_TEST(other->modify(other->opened_qp, IBV_QPS_ERR) == 0);
  BOOST_TEST(maker->query(maker->target.handle).attributes.state == std::uint32_t{IBV_QPS_ERR});
}

BOOST_AUTO_TEST_CASE(only_targets_are_opened_by_number_and_type) {
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  const std::uint32_t rc = maker->OpenProgram::create_qp(maker->pd, maker->cq).qpn;
  BOOST_TEST(maker->open_target(rc) == EINVAL);
  BOOST_TEST(maker->open_target(0) == EINVAL);
  abi::HandleReply reply{};
  abi::OpenQpRequest request{600, maker->xrcd, maker->target.qpn, IBV_QPT_XRC_SEND, 0};
  BOOST_TEST(maker->call(ControlOpcode::open_qp, request, reply) == EINVAL);
  request = {600, 4711, maker->target.qpn, IBV_QPT_XRC_RECV, 0};
  BOOST_TEST(maker->call(ControlOpcode::open_qp, request, reply) == EINVAL);
}

BOOST_AUTO_TEST_CASE(opened_targets_count_as_queue_pairs) {
  BOOST_REQUIRE(maker->open_domain(kCreate) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  const Share others = device().queue_pairs.take(limits::kMaxQp - 2);
  BOOST_TEST(maker->open_target(maker->target.qpn) == 0);
  BOOST_TEST(maker->open_target(maker->target.qpn) == ENOMEM);
}

BOOST_AUTO_TEST_CASE(a_target_lives_as_long_as_the_last_who_has_it) {
  const memory::Descriptor one = file("one");
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_REQUIRE(other->open_domain(0, one.get()) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  const std::uint32_t qpn = maker->target.qpn;
  BOOST_REQUIRE(other->open_target(qpn) == 0);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_qp, maker->target.handle) == 0);
  BOOST_TEST(other->query(other->opened_qp).attributes.state == std::uint32_t{IBV_QPS_RESET});
  BOOST_TEST(maker->open_target(qpn) == 0);
  BOOST_TEST(maker->destroy(ControlOpcode::destroy_qp, maker->opened_qp) == 0);
  BOOST_TEST(other->destroy(ControlOpcode::destroy_qp, other->opened_qp) == 0);
  BOOST_TEST(maker->open_target(qpn) == EINVAL);
}

BOOST_AUTO_TEST_CASE(a_context_that_dies_leaves_the_target_to_the_others) {
  const memory::Descriptor one = file("one");
  BOOST_REQUIRE(maker->open_domain(kCreate, one.get()) == 0);
  BOOST_REQUIRE(other->open_domain(0, one.get()) == 0);
  BOOST_REQUIRE(maker->create_srq(maker->xrcd, maker->cq) == 0);
  BOOST_REQUIRE(maker->create_target() == 0);
  BOOST_REQUIRE(maker->open_target(maker->target.qpn, 601) == 0);  // twice in one context
  const std::uint32_t qpn = maker->target.qpn;
  BOOST_REQUIRE(other->open_target(qpn) == 0);
  BOOST_REQUIRE(other->create_srq(other->xrcd, other->cq) == 0);
  maker.reset();
  BOOST_TEST(other->modify(other->opened_qp, IBV_QPS_INIT) == 0);
  BOOST_TEST(other->query(other->opened_qp).attributes.state == std::uint32_t{IBV_QPS_INIT});
  BOOST_TEST(device().queue_pairs.used() == 1u);
  BOOST_TEST(device().shared_receive_queues.used() == 1u);
  BOOST_TEST(other->open_target(qpn) == 0);
  other.reset();
  BOOST_TEST(device().queue_pairs.used() == 0u);
}

BOOST_AUTO_TEST_CASE(the_capability_is_reported_with_what_belongs_to_it) {
  abi::QueryDeviceReply reply{};
  BOOST_REQUIRE(maker->call(ControlOpcode::query_device, abi::Empty{}, reply) == 0);
  BOOST_TEST((reply.device_cap_flags & IBV_DEVICE_XRC) != 0u);
  if (reply.odp_general == 0) return;
  constexpr std::uint32_t kSendsToSrqs = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_SRQ_RECV;
  BOOST_TEST((reply.odp_xrc & kSendsToSrqs) == kSendsToSrqs);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
