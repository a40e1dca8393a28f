#include "tests/unit/storm/extended_traffic.hpp"

namespace urnic::engine::storm {

using test::TestQp;
using transport::QpService;

ExtendedTraffic::ExtendedTraffic(Chance& chance, const Programs& programs, std::uint32_t doorbell)
    : programs_(programs),
      domain_(programs.other.device.shared_receive_queues()),
      receive_cq_(256, nullptr, &programs.other.async_events.device_end(), 9000),
      initiator_(programs.one, doorbell, {.receive_slots = 0, .service = QpService::xrc_initiator}),
      target_(
          programs.other, doorbell,
          {.send_slots = 0, .receive_slots = 0, .service = QpService::xrc_target, .xrc_domain = &domain_}) {
  for (auto& queue : queues_) {
    queue = std::make_unique<test::TestSrq>(programs.other, kReceives, programs.other.pd, &domain_,
                                            receive_cq_.device_end.get());
  }
  connect(chance);
}

void ExtendedTraffic::connect(Chance& chance) {
  Engine& engine = programs_.one.engine;
  connect_anew(engine, initiator_, target_, 1024);
  connect_anew(engine, target_, initiator_, 1024);
  for (TestQp* queue_pair : {&initiator_, &target_}) {
    engine.execute([&] { choose_modes(chance, queue_pair->device_end()); });
  }
}

void ExtendedTraffic::post(Chance& chance) {
  test::TestSrq& queue = *queues_[chance.up_to(1)];
  if (chance.one_in(3)) {
    return queue.post(chance.number(0, kReceives - 1), random_ranges(chance, programs_.other));
  }
  abi::SendWqe request = random_request(chance, programs_.other);
  request.remote_srq = chance.one_in(100) ? 1'000'000 : queue.device_end->number();
  post_random(chance, initiator_, programs_.one, request);
}

void ExtendedTraffic::poll() {
  drain(initiator_.send_cq);
  drain(receive_cq_);
}

void ExtendedTraffic::disturb(Chance& chance) {
  if (chance.one_in(2)) return connect(chance);
  disturb_state(chance, programs_.one.engine, chance.one_in(2) ? initiator_ : target_);
}

}  // namespace urnic::engine::storm
