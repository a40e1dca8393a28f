// Queue pairs: sizes, states, attributes.
#include <boost/test/unit_test.hpp>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "tests/unit/control/direct_program.hpp"

namespace urnic::control::test {
namespace {

using transport::QpState;

constexpr std::uint32_t kInitMask =
    transport::attr_state | transport::attr_pkey_index | transport::attr_port | transport::attr_access_flags;
constexpr std::uint32_t kRtrMask = transport::attr_state | transport::attr_address_vector |
                                   transport::attr_path_mtu | transport::attr_destination_qpn |
                                   transport::attr_rq_psn | transport::attr_max_dest_rd_atomic |
                                   transport::attr_min_rnr_timer;
constexpr std::uint32_t kRtsMask = transport::attr_state | transport::attr_timeout |
                                   transport::attr_retry_count | transport::attr_rnr_retry |
                                   transport::attr_sq_psn | transport::attr_max_qp_rd_atomic;

struct WithQp {
  Machine machine;
  OpenProgram program{machine};
  abi::CreateQpReply qp = program.create_qp(program.pd, program.cq);
  abi::QpAttributes attributes = good_attributes();

  // To urnic1.
  static abi::QpAttributes good_attributes() {
    abi::QpAttributes a{};
    a.access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    a.port = 1;
    a.path_mtu = IBV_MTU_1024;
    a.destination_qpn = 0x123456;
    a.receive_psn = 0x111111;
    a.send_psn = 0x222222;
    a.max_dest_rd_atomic = 4;
    a.max_rd_atomic = 5;
    a.min_rnr_timer = 12;
    a.timeout = 14;
    a.retry_count = 7;
    a.rnr_retry = 6;
    a.path.is_global = 1;
    a.path.port = 1;
    a.path.source_gid_index = 1;
    a.path.hop_limit = 9;
    const std::uint8_t gid[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
    std::copy(std::begin(gid), std::end(gid), a.path.destination_gid);
    return a;
  }
  int modify(std::uint32_t mask, QpState state) {
    attributes.state = static_cast<std::uint32_t>(state);
    return program.call(ControlOpcode::modify_qp, abi::ModifyQpRequest{qp.handle, mask, attributes});
  }
  int to_init() { return modify(kInitMask, QpState::init); }
  int to_rtr() { return modify(kRtrMask, QpState::rtr); }
  int to_rts() { return modify(kRtsMask, QpState::rts); }
  int connect() {
    if (const int error = to_init()) return error;
    if (const int error = to_rtr()) return error;
    return to_rts();
  }
  abi::QueryQpReply query() {
    abi::QueryQpReply reply{};
    if (program.call(ControlOpcode::query_qp, abi::HandleRequest{qp.handle, 0}, reply) != 0) {
      throw std::runtime_error("query_qp failed");
    }
    return reply;
  }
  QpState state() { return static_cast<QpState>(query().attributes.state); }
  void modify_unanswered(std::uint32_t mask, QpState state) {
    attributes.state = static_cast<std::uint32_t>(state);
    Message message =
        make_message(ControlOpcode::modify_qp_unanswered, abi::ModifyQpRequest{qp.handle, mask, attributes});
    BOOST_REQUIRE(program.dispatch_raw(message));
    BOOST_TEST(program.reply().length == 0u);
  }
  QueuePair& object() { return *program.session().context->qps.find(qp.handle); }
};

BOOST_FIXTURE_TEST_SUITE(qp_commands, WithQp)

BOOST_AUTO_TEST_CASE(rings_have_room_for_what_was_asked) {
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.max_send_wr = 100;
  request.max_receive_wr = 3;
  request.max_send_sge = 5;
  request.max_receive_sge = 3;
  request.max_inline_data = 200;
  abi::CreateQpReply reply{};
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, reply) == 0);
  BOOST_TEST(reply.send_slots == 128u);
  BOOST_TEST(reply.send_slot_size == 512u);  // 64 + 200, rounded up
  BOOST_TEST(reply.receive_slots == 4u);
  BOOST_TEST(reply.receive_slot_size == 64u);  // 16 + 3 * 16
  BOOST_TEST(reply.max_inline_data == 512u - 64u);
  BOOST_TEST(reply.send_ring.length == 128u * 512u);
  BOOST_TEST(reply.receive_ring.length == 4u * 64u);
  BOOST_TEST(reply.qpn > 1u);  // 0 and 1 are the management QPs (IBTA 3.5.10)
}

BOOST_AUTO_TEST_CASE(without_an_answer_a_change_is_the_same) {
  modify_unanswered(kInitMask, QpState::init);
  BOOST_TEST((state() == QpState::init));
  BOOST_TEST(query().attributes.access_flags == attributes.access_flags);
  attributes.access_flags = IBV_ACCESS_REMOTE_WRITE;
  modify_unanswered(kInitMask, QpState::init);
  BOOST_TEST(query().attributes.access_flags == std::uint32_t{IBV_ACCESS_REMOTE_WRITE});
  BOOST_TEST(to_rtr() == 0);
  modify_unanswered(kRtsMask, QpState::rts);
  BOOST_TEST((state() == QpState::rts));
  BOOST_TEST(query().attributes.send_psn == attributes.send_psn);
  BOOST_TEST(query().attributes.timeout == attributes.timeout);
}

BOOST_AUTO_TEST_CASE(access_flags_may_come_with_rtr) {
  BOOST_REQUIRE(to_init() == 0);
  attributes.access_flags = IBV_ACCESS_REMOTE_WRITE;
  BOOST_TEST(modify(kRtrMask | transport::attr_access_flags, QpState::rtr) == 0);
  BOOST_TEST(query().attributes.access_flags == std::uint32_t{IBV_ACCESS_REMOTE_WRITE});
}

BOOST_AUTO_TEST_CASE(a_change_without_an_answer_that_cannot_be_made_changes_nothing) {
  BOOST_REQUIRE(to_init() == 0);
  BOOST_REQUIRE(to_rtr() == 0);
  modify_unanswered(kInitMask, QpState::init);
  BOOST_TEST((state() == QpState::rtr));
  attributes.retry_count = 8;
  modify_unanswered(kRtsMask, QpState::rts);
  BOOST_TEST((state() == QpState::rtr));
  attributes.retry_count = 7;
  BOOST_REQUIRE(modify(transport::attr_state, QpState::error) == 0);
  modify_unanswered(kRtsMask, QpState::rts);
  BOOST_TEST((state() == QpState::error));
  BOOST_TEST(modify(kRtsMask, QpState::rts) == EINVAL);
  BOOST_TEST(modify(transport::attr_state, QpState::reset) == 0);
  BOOST_TEST(connect() == 0);
}

BOOST_AUTO_TEST_CASE(a_queue_of_nothing_has_no_ring) {
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.max_send_wr = 0;
  request.max_receive_wr = 0;
  abi::CreateQpReply reply{};
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, reply) == 0);
  BOOST_TEST(reply.send_slots == 0u);
  BOOST_TEST(reply.send_ring.length == 0u);
  BOOST_TEST(reply.receive_ring.length == 0u);
}

BOOST_AUTO_TEST_CASE(the_largest_qp_can_be_made_and_nothing_larger) {
  const auto create = [&](auto change) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.max_send_wr = request.max_receive_wr = limits::kMaxQpWr;
    request.max_send_sge = request.max_receive_sge = limits::kMaxSge;
    request.max_inline_data = limits::kMaxInlineData;
    change(request);
    abi::CreateQpReply reply{};
    return program.call(ControlOpcode::create_qp, request, reply);
  };
  BOOST_TEST(create([](auto&) {}) == 0);
  BOOST_TEST(create([](auto& r) { ++r.max_send_wr; }) == EINVAL);
  BOOST_TEST(create([](auto& r) { ++r.max_receive_wr; }) == EINVAL);
  BOOST_TEST(create([](auto& r) { ++r.max_send_sge; }) == EINVAL);
  BOOST_TEST(create([](auto& r) { ++r.max_receive_sge; }) == EINVAL);
  BOOST_TEST(create([](auto& r) { ++r.max_inline_data; }) == EINVAL);
  BOOST_TEST(create([](auto& r) { r.max_send_sge = ~0u; }) == EINVAL);
}

// Its own required attributes, and no path.
BOOST_AUTO_TEST_CASE(a_datagram_qp_needs_a_qkey_and_no_address) {
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.type = IBV_QPT_UD;
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  attributes.qkey = 0x1234;
  BOOST_TEST(to_init() == EINVAL);
  BOOST_TEST(
      modify(transport::attr_state | transport::attr_pkey_index | transport::attr_port | transport::attr_qkey,
             QpState::init) == 0);
  BOOST_TEST(modify(transport::attr_state | transport::attr_address_vector, QpState::rtr) == EINVAL);
  BOOST_TEST(modify(transport::attr_state, QpState::rtr) == 0);
  BOOST_TEST(modify(transport::attr_state | transport::attr_sq_psn, QpState::rts) == 0);
  BOOST_TEST(query().attributes.qkey == 0x1234u);
}

BOOST_AUTO_TEST_CASE(other_services_are_not_offered) {
  for (const std::uint32_t type : {0u, 99u}) {
    abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
    request.type = type;
    abi::CreateQpReply reply{};
    BOOST_TEST(program.call(ControlOpcode::create_qp, request, reply) == EOPNOTSUPP, type);
  }
}

BOOST_AUTO_TEST_CASE(a_connection_is_made_in_three_steps) {
  BOOST_TEST((state() == QpState::reset));
  BOOST_REQUIRE(to_init() == 0);
  BOOST_REQUIRE(to_rtr() == 0);
  BOOST_REQUIRE(to_rts() == 0);
  BOOST_TEST((state() == QpState::rts));

  const transport::QpParameters& p = object().shared->hosted->parameters();
  BOOST_TEST(p.access.remote_read);
  BOOST_TEST(p.access.remote_write);
  BOOST_TEST(!p.access.remote_atomic);
  BOOST_TEST(p.path_mtu == 1024u);
  BOOST_TEST(p.destination.value == 0x123456u);
  BOOST_TEST((p.receive_psn == wire::Psn{0x111111}));
  BOOST_TEST((p.send_psn == wire::Psn{0x222222}));
  BOOST_TEST(p.max_destination_reads == 4);
  BOOST_TEST(p.max_reads == 5);
  BOOST_TEST(p.min_rnr_timer == 12);
  BOOST_TEST(p.timeout == 14);
  BOOST_TEST(p.retry_count == 7);
  BOOST_TEST(p.rnr_retry == 6);
  BOOST_REQUIRE(object().shared->path.has_value());
  BOOST_TEST((object().shared->path->destination_mac == machine.fabric.devices()[1]->settings.mac));
}

BOOST_AUTO_TEST_CASE(a_query_gives_back_what_was_set) {
  BOOST_REQUIRE(connect() == 0);
  const abi::QueryQpReply reply = query();
  const abi::QpAttributes& a = reply.attributes;
  BOOST_TEST(a.current_state == static_cast<std::uint32_t>(IBV_QPS_RTS));
  BOOST_TEST(a.access_flags == attributes.access_flags);
  BOOST_TEST(a.path_mtu == attributes.path_mtu);
  BOOST_TEST(a.destination_qpn == attributes.destination_qpn);
  BOOST_TEST(a.receive_psn == attributes.receive_psn);
  BOOST_TEST(a.send_psn == attributes.send_psn);
  BOOST_TEST(a.max_rd_atomic == attributes.max_rd_atomic);
  BOOST_TEST(a.max_dest_rd_atomic == attributes.max_dest_rd_atomic);
  BOOST_TEST(a.min_rnr_timer == attributes.min_rnr_timer);
  BOOST_TEST(a.timeout == attributes.timeout);
  BOOST_TEST(a.retry_count == attributes.retry_count);
  BOOST_TEST(a.rnr_retry == attributes.rnr_retry);
  BOOST_TEST(a.port == 1);
  BOOST_TEST(a.path.hop_limit == 64);  // the route's: what is sent (path_resolution.cpp)
  BOOST_TEST(a.path.source_gid_index == 1);
  BOOST_TEST(a.sq_draining == 0);
  BOOST_TEST(reply.max_send_wr == 4u);
  BOOST_TEST(reply.max_receive_sge == 1u);
}

BOOST_AUTO_TEST_CASE(a_refused_change_changes_nothing) {
  BOOST_REQUIRE(to_init() == 0);
  attributes.path_mtu = 9;
  BOOST_TEST(to_rtr() == EINVAL);
  BOOST_TEST((state() == QpState::init));
  BOOST_TEST(query().attributes.path_mtu == 0u);
  BOOST_TEST(query().attributes.destination_qpn == 0u);
}

BOOST_AUTO_TEST_CASE(steps_cannot_be_skipped_and_attributes_not_left_out) {
  BOOST_TEST(to_rtr() == EINVAL);
  BOOST_TEST(to_rts() == EINVAL);
  BOOST_TEST(modify(kInitMask & ~transport::attr_port, QpState::init) == EINVAL);
  BOOST_REQUIRE(to_init() == 0);
  BOOST_TEST(modify(kRtrMask & ~transport::attr_rq_psn, QpState::rtr) == EINVAL);
  BOOST_TEST(modify(kRtrMask | transport::attr_qkey, QpState::rtr) == EINVAL);
  BOOST_TEST(modify(kRtrMask, static_cast<QpState>(7)) == EINVAL);
}

BOOST_AUTO_TEST_CASE(values_have_limits) {
  const auto refused = [&](std::uint32_t before, auto change, int error = EINVAL) {
    WithQp fresh;
    if (before > 0) BOOST_REQUIRE(fresh.to_init() == 0);
    if (before > 1) BOOST_REQUIRE(fresh.to_rtr() == 0);
    change(fresh.attributes);
    return (before == 0 ? fresh.to_init() : before == 1 ? fresh.to_rtr() : fresh.to_rts()) == error;
  };
  BOOST_TEST(refused(0, [](auto& a) { a.port = 2; }));
  BOOST_TEST(refused(0, [](auto& a) { a.pkey_index = 1; }));
  BOOST_TEST(refused(1, [](auto& a) { a.path_mtu = 0; }));
  BOOST_TEST(refused(1, [](auto& a) { a.max_dest_rd_atomic = limits::kMaxRdAtomic + 1; }));
  BOOST_TEST(refused(1, [](auto& a) { a.min_rnr_timer = 32; }));
  BOOST_TEST(refused(1, [](auto& a) { a.path.is_global = 0; }));
  BOOST_TEST(refused(
      1, [](auto& a) { a.path.source_gid_index = 2; }, ENODATA));
  BOOST_TEST(refused(1, [](auto& a) { a.path.source_gid_index = 16; }));
  BOOST_TEST(refused(2, [](auto& a) { a.timeout = 32; }));
  BOOST_TEST(refused(2, [](auto& a) { a.retry_count = 8; }));
  BOOST_TEST(refused(2, [](auto& a) { a.rnr_retry = 8; }));
  BOOST_TEST(refused(2, [](auto& a) { a.max_rd_atomic = limits::kMaxRdAtomic + 1; }));
}

BOOST_AUTO_TEST_CASE(the_path_mtu_is_at_most_the_ports) {
  Machine small;
  const_cast<ServedDevice&>(*small.fabric.devices()[0]).settings.mtu = 1024;
  OpenProgram other(small);
  const abi::CreateQpReply made = other.create_qp(other.pd, other.cq);
  const auto step = [&](std::uint32_t mask, QpState state, std::uint32_t mtu) {
    attributes.state = static_cast<std::uint32_t>(state);
    attributes.path_mtu = mtu;
    return other.call(ControlOpcode::modify_qp, abi::ModifyQpRequest{made.handle, mask, attributes});
  };
  BOOST_REQUIRE(step(kInitMask, QpState::init, 0) == 0);
  BOOST_TEST(step(kRtrMask, QpState::rtr, IBV_MTU_2048) == EINVAL);
  BOOST_TEST(step(kRtrMask, QpState::rtr, IBV_MTU_1024) == 0);
}

// An Ethernet whose interfaces have an MTU of 1,500 bytes carries RoCE with a path MTU of 1,024.
BOOST_AUTO_TEST_CASE(raw_packets_may_be_as_long_as_the_hosts) {
  for (const auto& [path_mtu, longest] :
       {std::pair{256u, 1518u}, std::pair{1024u, 1518u}, std::pair{2048u, 4235u}, std::pair{4096u, 4235u}}) {
    Machine small;
    const_cast<ServedDevice&>(*small.fabric.devices()[0]).settings.mtu = path_mtu;
    OpenProgram other(small);
    abi::CreateQpRequest request = other.qp_request(other.pd, other.cq);
    request.type = IBV_QPT_RAW_PACKET;
    abi::CreateQpReply made{};
    BOOST_REQUIRE(other.call(ControlOpcode::create_qp, request, made) == 0);
    attributes = {};
    attributes.state = IBV_QPS_INIT;
    attributes.port = 1;
    const abi::ModifyQpRequest step{made.handle, IBV_QP_STATE | IBV_QP_PORT, attributes};
    BOOST_REQUIRE(other.call(ControlOpcode::modify_qp, step) == 0);
    const QueuePair& raw = *other.session().context->qps.find(made.handle);
    BOOST_TEST(raw.shared->hosted->parameters().path_mtu == longest);
  }
}

BOOST_AUTO_TEST_CASE(psns_and_qpns_have_24_bits) {
  attributes.receive_psn = 0xAB111111;
  attributes.destination_qpn = 0xAB123456;
  attributes.send_psn = 0xAB222222;
  BOOST_REQUIRE(connect() == 0);
  BOOST_TEST(query().attributes.receive_psn == 0x111111u);
  BOOST_TEST(query().attributes.send_psn == 0x222222u);
  BOOST_TEST(object().shared->hosted->parameters().destination.value == 0x123456u);
}

BOOST_AUTO_TEST_CASE(an_address_that_nobody_has_times_out) {
  BOOST_REQUIRE(to_init() == 0);
  attributes.path.destination_gid[15] = 200;
  BOOST_TEST(to_rtr() == ETIMEDOUT);
  BOOST_TEST((state() == QpState::init));
}

BOOST_AUTO_TEST_CASE(a_wrong_belief_about_the_state_is_refused) {
  BOOST_REQUIRE(to_init() == 0);
  BOOST_REQUIRE(to_rtr() == 0);
  attributes.current_state = static_cast<std::uint32_t>(IBV_QPS_RTS);
  BOOST_TEST(modify(kRtsMask | transport::attr_current_state, QpState::rts) == EINVAL);
  attributes.current_state = static_cast<std::uint32_t>(IBV_QPS_RTR);
  BOOST_TEST(modify(kRtsMask | transport::attr_current_state, QpState::rts) == 0);
}

BOOST_AUTO_TEST_CASE(reset_forgets_everything_and_the_qp_can_be_used_again) {
  BOOST_REQUIRE(connect() == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::reset) == 0);
  BOOST_TEST((state() == QpState::reset));
  BOOST_TEST(query().attributes.destination_qpn == 0u);
  BOOST_TEST(!object().shared->path.has_value());
  BOOST_TEST(connect() == 0);
}

BOOST_AUTO_TEST_CASE(attributes_can_change_without_the_state) {
  BOOST_REQUIRE(connect() == 0);
  attributes.min_rnr_timer = 3;
  BOOST_REQUIRE(modify(transport::attr_min_rnr_timer, QpState::reset) == 0);  // the state is not in the mask
  BOOST_TEST((state() == QpState::rts));
  BOOST_TEST(object().shared->hosted->parameters().min_rnr_timer == 3);
  BOOST_TEST(object().shared->hosted->parameters().timeout == 14);
}

BOOST_AUTO_TEST_CASE(path_migration_is_not_offered) {
  BOOST_REQUIRE(to_init() == 0);
  BOOST_TEST(modify(kRtrMask | transport::attr_alternate_path, QpState::rtr) == EOPNOTSUPP);
  BOOST_REQUIRE(to_rtr() == 0);
  attributes.path_migration_state = IBV_MIG_REARM;
  BOOST_TEST(modify(kRtsMask | transport::attr_path_migration_state, QpState::rts) == EINVAL);
  attributes.path_migration_state = IBV_MIG_MIGRATED;
  BOOST_TEST(modify(kRtsMask | transport::attr_path_migration_state, QpState::rts) == 0);
}

BOOST_AUTO_TEST_CASE(sqd_and_back) {
  BOOST_REQUIRE(connect() == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::sqd) == 0);
  BOOST_TEST((state() == QpState::sqd));
  BOOST_TEST(query().attributes.sq_draining == 0);
  attributes.timeout = 9;
  BOOST_REQUIRE(modify(transport::attr_timeout, QpState::sqd) == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::rts) == 0);
  BOOST_TEST(object().shared->hosted->parameters().timeout == 9);
}

BOOST_AUTO_TEST_CASE(options_that_the_peer_does_not_have_are_not_offered_to_it) {
  const std::uint32_t ours = program.session().device.settings.vendor_id;
  const auto options = [&] {
    abi::QueryEceReply reply{};
    BOOST_REQUIRE(program.call(ControlOpcode::query_ece, abi::HandleRequest{qp.handle, 0}, reply) == 0);
    BOOST_TEST(reply.vendor_id == ours);
    return reply.options;
  };
  const auto set = [&](std::uint32_t vendor, std::uint32_t wanted) {
    return program.call(ControlOpcode::set_ece, abi::SetEceRequest{qp.handle, vendor, wanted});
  };
  BOOST_TEST(options() == abi::kEceSelectiveAcknowledgement);
  BOOST_TEST(qp.ece_vendor_id == ours);
  BOOST_TEST(qp.ece_options == options());
  BOOST_TEST(set(ours + 1, abi::kEceSelectiveAcknowledgement) == EINVAL);
  BOOST_TEST(set(ours, 0) == 0);
  BOOST_TEST(options() == 0u);
  BOOST_TEST(set(ours, ~0u) == 0);
  BOOST_TEST(options() == abi::kEceSelectiveAcknowledgement);
  BOOST_REQUIRE(connect() == 0);
  BOOST_TEST(set(ours, 0) == EINVAL);  // too late
  BOOST_TEST(options() == abi::kEceSelectiveAcknowledgement);
}

BOOST_AUTO_TEST_CASE(only_what_owes_no_acknowledgement_can_be_slowed_down) {
  const auto limit = [&](std::uint32_t handle, std::uint32_t rate) {
    return program.call(ControlOpcode::limit_rate, abi::LimitRateRequest{handle, rate, 0});
  };
  BOOST_REQUIRE(connect() == 0);
  BOOST_TEST(limit(qp.handle, 1000) == EINVAL);
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.type = IBV_QPT_UD;
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  BOOST_REQUIRE(
      modify(transport::attr_state | transport::attr_pkey_index | transport::attr_port | transport::attr_qkey,
             QpState::init) == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::rtr) == 0);
  BOOST_TEST(limit(qp.handle, 1000) == EINVAL);  // it does not send yet
  attributes.rate_limit = limits::kMaxRate + 1;
  const std::uint32_t to_rts = transport::attr_state | transport::attr_sq_psn | transport::attr_rate_limit;
  BOOST_TEST(modify(to_rts, QpState::rts) == EINVAL);
  attributes.rate_limit = limits::kMaxRate;
  BOOST_TEST(modify(to_rts, QpState::rts) == 0);
  BOOST_TEST(query().attributes.rate_limit == limits::kMaxRate);
  BOOST_TEST(limit(qp.handle, limits::kMinRate) == 0);
  BOOST_TEST(query().attributes.rate_limit == limits::kMinRate);
  BOOST_TEST(limit(qp.handle, limits::kMaxRate + 1) == EINVAL);
  BOOST_TEST(limit(qp.handle, 0) == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::reset) == 0);
  BOOST_TEST(query().attributes.rate_limit == 0u);
}

// Its type is no ibv_qp_type: there is no bit for it (UndefinedBehaviorSanitizer sees a shift that is too
// far).
BOOST_AUTO_TEST_CASE(a_work_queue_sends_nothing_that_could_be_slowed_down) {
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.type = abi::kWorkQueue;
  request.max_send_wr = 0;
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  BOOST_TEST(program.call(ControlOpcode::limit_rate, abi::LimitRateRequest{qp.handle, 1000, 0}) == EINVAL);
}

// As packet_pacing_caps has it.
BOOST_AUTO_TEST_CASE(raw_packets_can_be_slowed_down_too) {
  abi::QueryDeviceReply device{};
  BOOST_REQUIRE(program.call(ControlOpcode::query_device, abi::Empty{}, device) == 0);
  BOOST_TEST(device.rate_limited_types == (1u << IBV_QPT_UC | 1u << IBV_QPT_UD | 1u << IBV_QPT_RAW_PACKET));
  abi::CreateQpRequest request = program.qp_request(program.pd, program.cq);
  request.type = IBV_QPT_RAW_PACKET;
  BOOST_REQUIRE(program.call(ControlOpcode::create_qp, request, qp) == 0);
  BOOST_REQUIRE(modify(transport::attr_state | transport::attr_port, QpState::init) == 0);
  BOOST_REQUIRE(modify(transport::attr_state, QpState::rtr) == 0);
  attributes.rate_limit = 1000;
  BOOST_TEST(modify(transport::attr_state | transport::attr_rate_limit, QpState::rts) == 0);
  BOOST_TEST(program.call(ControlOpcode::limit_rate, abi::LimitRateRequest{qp.handle, 2000, 0}) == 0);
}

BOOST_AUTO_TEST_CASE(destroying_frees_doorbell_pd_and_cq) {
  abi::DestroyReply reply{};
  BOOST_TEST(program.call(ControlOpcode::deallocate_pd, program.pd) == EBUSY);
  BOOST_REQUIRE(program.call(ControlOpcode::destroy_qp, abi::HandleRequest{qp.handle, 0}, reply) == 0);
  BOOST_TEST(program.create_qp(program.pd, program.cq).doorbell == qp.doorbell);
}

BOOST_AUTO_TEST_CASE(ten_thousand_qps_take_a_few_arenas) {
  for (int i = 0; i < 10'000; ++i) {
    BOOST_REQUIRE(program.create_qp(program.pd, program.cq).handle != 0u);
  }
  std::uint32_t highest = 0;
  for (const auto& [handle, made] : program.session().context->qps) {
    highest = std::max(highest, made->indices.arena());
  }
  BOOST_TEST(highest < 12u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::control::test
