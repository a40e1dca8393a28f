#include "tests/unit/storm/connected_traffic.hpp"

#include <algorithm>

namespace urnic::engine::storm {

using test::TestQp;
using transport::QpService;

ConnectedTraffic::ConnectedTraffic(Chance& chance, const Programs& programs, std::uint32_t doorbell,
                                   QpService service, Receives receives)
    : programs_(programs), service_(service) {
  test::QpLayout layout{.service = service};
  one_ = std::make_unique<TestQp>(programs.one, doorbell, layout);
  if (receives != Receives::own) {
    shared_receives_ = std::make_unique<test::TestSrq>(programs.other, kReceives);
    layout.receive_slots = 0;
    layout.srq = shared_receives_->device_end.get();
  }
  if (receives == Receives::tagged) {
    tags_ = std::make_unique<test::TestTags>(programs.other, *shared_receives_, doorbell + 1, 32);
    layout.send_slots = 0;
    layout.tags = tags_->device_end.get();
  }
  other_ = std::make_unique<TestQp>(programs.other, doorbell + 2, layout);
  connect(chance);
}

ConnectedTraffic::~ConnectedTraffic() = default;

void ConnectedTraffic::connect(Chance& chance) {
  const std::uint32_t path_mtu = chance.one_of({256u, 1024u, 4096u});
  Engine& engine = programs_.one.engine;
  const auto both = {std::pair{one_.get(), other_.get()}, std::pair{other_.get(), one_.get()}};
  for (const auto& [queue_pair, peer] : both) {
    connect_anew(engine, *queue_pair, *peer, path_mtu);
    if (service_ == QpService::rc) {
      engine.execute([&, &own = queue_pair] { choose_modes(chance, own->device_end()); });
    }
  }
}

void ConnectedTraffic::post_receive(Chance& chance) {
  if (shared_receives_ != nullptr) {
    return shared_receives_->post(chance.number(0, kReceives - 1), random_ranges(chance, programs_.other));
  }
  TestQp& queue_pair = chance.one_in(2) ? *one_ : *other_;
  const test::Program& program = &queue_pair == one_.get() ? programs_.one : programs_.other;
  for (int i = 0; i < 4; ++i) queue_pair.post_receive(random_ranges(chance, program));
}

void ConnectedTraffic::post_tag(Chance& chance) {
  const auto ranges = random_ranges(chance, programs_.other);
  const std::uint32_t entry = chance.number(0, 31);
  if (chance.one_in(4)) return tags_->remove(entry);
  tags_->add(entry, chance.up_to(3), chance.up_to(3), std::span(ranges).first(1));
}

void ConnectedTraffic::post(Chance& chance) {
  if (tags_ != nullptr && chance.one_in(4)) return post_tag(chance);
  if (chance.one_in(2)) return post_receive(chance);
  const bool first = tags_ != nullptr || chance.one_in(2);
  TestQp& queue_pair = first ? *one_ : *other_;
  const std::uint32_t count = chance.number(1, chance.one_in(4) ? 20 : 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto request = random_request(chance, first ? programs_.other : programs_.one);
    post_random(chance, queue_pair, first ? programs_.one : programs_.other, request);
  }
}

void ConnectedTraffic::poll() {
  for (TestQp* queue_pair : {one_.get(), other_.get()}) {
    drain(queue_pair->send_cq);
    drain(queue_pair->receive_cq);
  }
  if (tags_ != nullptr) drain(tags_->cq);
}

void ConnectedTraffic::disturb(Chance& chance) {
  if (chance.one_in(3)) return connect(chance);
  disturb_state(chance, programs_.one.engine, chance.one_in(2) ? *one_ : *other_);
}

}  // namespace urnic::engine::storm
