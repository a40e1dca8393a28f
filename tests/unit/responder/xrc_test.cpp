// The target of an extended reliable connection: a responder whose requests say for which SRQ they are (IBTA
// annex A14).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>

#include "tests/unit/responder/responder_bench.hpp"

namespace urnic::transport::bench {
namespace {

using wire::NakCode;
using wire::Operation;

constexpr std::uint32_t kSrq = 0x654321;
constexpr std::uint32_t kOtherSrq = 2;    // in the same protection domain
constexpr std::uint32_t kForeignSrq = 3;  // in another one
constexpr std::uint32_t kNobody = 4;

// Indices count over all queues, as XrcReceiveQueues has it.
class BenchDomain final : public XrcReceiveQueues {
 public:
  void add(std::uint32_t number, PdId pd) { queues_[number].pd = pd; }
  void remove(std::uint32_t number) { queues_.erase(number); }
  BenchReceiveQueue& receives(std::uint32_t number) { return queues_.at(number).receives; }

  std::optional<PdId> select(std::uint32_t number) override {
    const auto found = queues_.find(number);
    selected_ = found != queues_.end() ? &found->second : nullptr;
    return selected_ != nullptr ? std::optional(selected_->pd) : std::nullopt;
  }
  bool next(ReceiveRequest& request) override {
    if (selected_ == nullptr || !selected_->receives.next(request)) return false;
    request.pd = selected_->pd;
    request.index = taken_++;
    return true;
  }
  std::uint32_t available() const override { return 0; }
  void retire(std::uint32_t) override {}

 private:
  struct Queue {
    PdId pd;
    BenchReceiveQueue receives;
  };
  std::map<std::uint32_t, Queue> queues_;
  Queue* selected_ = nullptr;
  std::uint32_t taken_ = 0;
};

struct WithDomain {
  BenchDomain domain;
};

struct XrcBench : WithDomain, ResponderBench {
  XrcBench() : ResponderBench(RecoveryMode::gbn, kSlots, nullptr, &domain) {
    domain.add(kSrq, kPd);
    domain.add(kOtherSrq, kPd);
    domain.add(kForeignSrq, PdId{8});
  }
  void post_to(std::uint32_t number, std::uint32_t key = kKey, std::uint32_t offset = 0) {
    domain.receives(number).post({Sge{kBuffer + offset, 0x1000, Lkey{key}}});
  }
  std::uint32_t taken_from(std::uint32_t number) { return domain.receives(number).taken(); }
};

Packet to(std::uint32_t number, Packet packet) {
  packet.headers.bth.opcode = wire::Opcode(wire::Service::xrc, packet.headers.bth.opcode.operation());
  packet.headers.xrceth.srq_number = number;
  return packet;
}

bool is_xrc_nak(const SentPacket& packet, wire::Psn of, NakCode code) {
  SentPacket as_rc = packet;
  as_rc.headers.bth.opcode = wire::Opcode(wire::Service::rc, packet.headers.bth.opcode.operation());
  return packet.headers.bth.opcode.service() == wire::Service::xrc && is_nak(as_rc, of, code);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(xrc_target, XrcBench)

BOOST_AUTO_TEST_CASE(a_send_takes_a_receive_of_the_srq_that_it_names) {
  post_to(kSrq);
  post_to(kOtherSrq, kKey, 0x1000);
  ask(to(kOtherSrq, send_only(0, 16, 5)));
  BOOST_TEST(completion().wqe_index == 0u);
  BOOST_TEST(taken_from(kOtherSrq) == 1u);
  BOOST_TEST(taken_from(kSrq) == 0u);
  ask(to(kSrq, send_only(1, 16, 6)));
  BOOST_TEST(completion().wqe_index == 1u);
  BOOST_TEST(taken_from(kSrq) == 1u);
  BOOST_TEST(memory.bytes(kBuffer + 0x1000, 16) == pattern(16, 5));
  BOOST_TEST(memory.bytes(kBuffer, 16) == pattern(16, 6));
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_data_does_too) {
  post_to(kOtherSrq);
  ask(to(kOtherSrq, write(Operation::write_only_immediate, 0, pattern(8), 8)));
  BOOST_TEST((completion().opcode == CompletionOpcode::receive_rdma_with_immediate));
  BOOST_TEST(taken_from(kOtherSrq) == 1u);
}

BOOST_AUTO_TEST_CASE(responses_are_xrc_packets_without_an_xrceth_and_give_no_credits) {
  post_to(kSrq);
  ask(to(kSrq, send_only(0)));
  ask(to(kSrq, read(1, 8)));
  ask(to(kSrq, add(2, 1)));
  for (const Operation operation :
       {Operation::acknowledge, Operation::read_response_only, Operation::atomic_acknowledge}) {
    const SentPacket packet = take();
    BOOST_TEST((packet.headers.bth.opcode == wire::Opcode(wire::Service::xrc, operation)));
    BOOST_TEST(packet.headers.aeth.syndrome == wire::ack_syndrome(wire::kInvalidCreditCode));
  }
}

BOOST_AUTO_TEST_CASE(an_srq_without_receives_is_a_receiver_not_ready_though_others_have_some) {
  post_to(kOtherSrq);
  ask(to(kSrq, send_only(0)));
  BOOST_TEST((wire::kind(take().headers.aeth.syndrome) == wire::AethKind::rnr_nak));
  BOOST_TEST(taken_from(kOtherSrq) == 0u);
  BOOST_TEST(!shared.failed);
}

BOOST_AUTO_TEST_CASE(a_number_that_is_not_in_the_domain_is_refused_whatever_the_request) {
  for (const Packet& request :
       {send_only(0), write_only(0), read(0, 8), add(0, 1), write(Operation::atomic_write, 0, pattern(8), 8),
        write(Operation::write_only_immediate, 0, pattern(8), 8)}) {
    XrcBench bench;
    bench.post_to(kSrq);
    bench.ask(to(kNobody, request));
    BOOST_CHECK(is_xrc_nak(bench.take(), psn(0), NakCode::remote_access_error));
    BOOST_TEST(bench.host.completions.empty());
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_access_error);
    BOOST_TEST(bench.shared.failed);
  }
}

BOOST_AUTO_TEST_CASE(keys_are_checked_in_the_protection_domain_of_the_srq) {
  for (const Packet& request :
       {write_only(0), read(0, 8), add(0, 1), write(Operation::atomic_write, 0, pattern(8), 8)}) {
    XrcBench same;
    same.ask(to(kSrq, request));
    BOOST_CHECK((wire::kind(same.take().headers.aeth.syndrome) == wire::AethKind::ack));
    XrcBench foreign;
    foreign.ask(to(kForeignSrq, request));
    BOOST_CHECK(is_xrc_nak(foreign.take(), psn(0), NakCode::remote_access_error));
  }
}

// No SRQ is asked for: which header would name it, is not known.
BOOST_AUTO_TEST_CASE(a_reserved_opcode_is_an_invalid_request) {
  for (const int opcode : {0x15, 0x18, 0x1C, 0x1F}) {
    XrcBench bench;
    bench.ask(to(kNobody, send(static_cast<Operation>(opcode), 0, pattern(16))));
    BOOST_CHECK(is_xrc_nak(bench.take(), psn(0), NakCode::invalid_request));
    BOOST_REQUIRE_EQUAL(bench.host.events.size(), 1u);
    BOOST_CHECK(bench.host.events[0] == AsyncEvent::qp_request_error);
  }
}

BOOST_AUTO_TEST_CASE(a_receive_is_filled_in_the_protection_domain_of_the_srq) {
  post_to(kForeignSrq, kForeignKey);
  ask(to(kForeignSrq, send_only(0)));
  BOOST_CHECK(completion().status == WorkStatus::success);
  post_to(kForeignSrq, kKey);
  ask(to(kForeignSrq, send_only(1)));
  BOOST_CHECK(completion().status == WorkStatus::local_protection_error);
}

BOOST_AUTO_TEST_CASE(a_read_is_answered_in_the_domain_of_its_own_srq_though_another_came_behind) {
  give(to(kSrq, read(0, kMtu * 2)));
  give(to(kForeignSrq, read(2, 0)));
  settle();
  BOOST_TEST(sent().size() == 3u);
  for (const SentPacket& packet : sent()) {
    BOOST_TEST((packet.headers.bth.opcode.operation() != Operation::acknowledge));
  }
}

BOOST_AUTO_TEST_CASE(a_read_that_comes_again_is_answered_if_its_srq_is_there_still) {
  ask(to(kSrq, read(0, 8)));
  sent().clear();
  ask(to(kSrq, read(0, 8)));
  BOOST_TEST(sent().size() == 1u);
  sent().clear();
  ask(to(kNobody, read(0, 8)));
  BOOST_TEST(sent().empty());
  BOOST_TEST(!shared.failed);
}

BOOST_AUTO_TEST_CASE(an_srq_that_goes_within_a_message_ends_the_connection_and_nothing_is_written) {
  post_to(kSrq);
  ask(to(kSrq, send(Operation::send_first, 0, pattern(kMtu))));
  domain.remove(kSrq);
  responder.receive_lost();
  const auto before = memory.bytes(kBuffer, 0x1000);
  ask(to(kSrq, send(Operation::send_last, 1, pattern(kMtu))));
  sent().pop_front();  // of the first packet, perhaps
  BOOST_TEST(shared.failed);
  BOOST_TEST(memory.bytes(kBuffer, 0x1000) == before);
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::qp_access_error);
  BOOST_TEST(host.completions.empty());
}

BOOST_AUTO_TEST_CASE(the_rest_of_such_a_message_finds_no_place_in_another_srq) {
  post_to(kSrq);
  post_to(kOtherSrq, kKey, 0x1000);
  ask(to(kSrq, send(Operation::send_first, 0, pattern(kMtu))));
  domain.remove(kSrq);
  responder.receive_lost();
  const auto before = memory.bytes(kBuffer, 0x2000);
  ask(to(kOtherSrq, send(Operation::send_last, 1, pattern(kMtu))));
  BOOST_TEST(shared.failed);
  BOOST_TEST(memory.bytes(kBuffer, 0x2000) == before);
  BOOST_TEST(taken_from(kOtherSrq) == 0u);
}

BOOST_AUTO_TEST_CASE(memory_that_fails_is_told_to_all_who_have_the_target_open) {
  post_to(kSrq);
  memory.unmap(kBuffer, 0x1000);
  ask(to(kSrq, send_only(0)));
  BOOST_CHECK(is_xrc_nak(take(), psn(0), NakCode::remote_operational_error));
  BOOST_CHECK(completion().status == WorkStatus::local_protection_error);
  BOOST_REQUIRE_EQUAL(host.events.size(), 1u);
  BOOST_CHECK(host.events[0] == AsyncEvent::qp_access_error);
}

BOOST_AUTO_TEST_CASE(an_error_leaves_the_srqs_alone_and_tells_nobody_of_a_last_wqe) {
  post_to(kSrq);
  responder.flush();
  flush();
  BOOST_TEST(host.completions.empty());
  BOOST_TEST(host.events.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::bench
