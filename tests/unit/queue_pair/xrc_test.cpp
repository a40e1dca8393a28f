// What the two ends of an extended reliable connection let in (IBTA annex A14).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/queue_pair/side.hpp"

namespace urnic::transport::bench {
namespace {

constexpr wire::Qpn kQpn{0x11};

// Every SRQ is in its domain, and has no receives.
class EmptyDomain final : public XrcReceiveQueues {
 public:
  std::optional<PdId> select(std::uint32_t) override { return kPd; }
  bool next(ReceiveRequest&) override { return false; }
  std::uint32_t available() const override { return 0; }
  void retire(std::uint32_t) override {}
};

struct XrcQps {
  EmptyDomain domain;
  Side side{kQpn};
  QueuePair initiator{config(nullptr)};
  QueuePair target{config(&domain)};

  QpConfig config(XrcReceiveQueues* queues) {
    QpConfig made = side.make_config(kQpn, 16, RecoveryMode::gbn);
    made.packets = wire::Service::xrc;
    made.xrc_receives = queues;
    if (queues != nullptr) made.receive_queue = queues;
    return made;
  }

  XrcQps() {
    QpParameters parameters;
    parameters.access = {true, true, true};
    parameters.max_destination_reads = 4;
    parameters.max_reads = 4;
    for (QueuePair* const qp : {&initiator, &target}) {
      for (const QpState state : {QpState::init, QpState::rtr, QpState::rts})
        qp->modify(state, parameters, {});
    }
  }

  // True if the QP has something to answer.
  static bool answers(QueuePair& qp, wire::Service service) {
    Packet request = write_request(wire::Operation::write_only, 0, kBase, kKey, 0, {});
    request.headers.bth.opcode = wire::Opcode(service, wire::Operation::write_only);
    request.headers.bth.ack_request = true;
    qp.receive(request.inbound(), {});
    return qp.wants_pump();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(xrc, XrcQps)

BOOST_AUTO_TEST_CASE(a_target_takes_requests_of_its_own_service_only) {
  BOOST_TEST(!answers(target, wire::Service::rc));
  BOOST_TEST(!answers(target, wire::Service::uc));
  BOOST_TEST(answers(target, wire::Service::xrc));
}

BOOST_AUTO_TEST_CASE(an_initiator_takes_none) {
  BOOST_TEST(!answers(initiator, wire::Service::xrc));
  Packet reserved = rc_packet(wire::Operation::send_only, 0);
  reserved.headers.bth.opcode = wire::Opcode(0xBF);
  initiator.receive(reserved.inbound(), {});
  BOOST_TEST(!initiator.wants_pump());
  side.host.flush();
  BOOST_TEST(side.host.events.empty());
  target.receive(reserved.inbound(), {});
  side.host.flush();
  BOOST_TEST(side.host.events.size() == 1u);  // IBTA 9.7.4.1.4: an invalid request
}

BOOST_AUTO_TEST_CASE(an_initiator_takes_responses_of_its_own_service_only) {
  SendRequest request;
  request.opcode = WorkOpcode::send;
  request.signaled = true;
  side.sends.post(request);
  initiator.doorbell();
  BOOST_TEST(initiator.pump({}, 10) == 1u);
  Packet response = ack(0);
  initiator.receive(response.inbound(), {});
  BOOST_TEST(side.host.completions.empty());
  response.headers.bth.opcode = wire::Opcode(wire::Service::xrc, wire::Operation::acknowledge);
  target.receive(response.inbound(), {});
  initiator.receive(response.inbound(), {});
  side.host.flush();
  BOOST_TEST(side.host.completions.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::bench
