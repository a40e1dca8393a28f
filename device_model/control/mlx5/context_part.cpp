#include "device_model/control/mlx5/context_part.hpp"

#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/loop/clock_now.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"

namespace urnic::control::mlx5 {

static_assert(kPageBytes == engine::UarPages::kPageBytes && kPageBytes == engine::ClockPages::kPageBytes);

ContextPart::ContextPart(Context& context, DevicePages uar_pages, DevicePages pages_of_clock)
    : uars(std::move(uar_pages)),
      clock_pages(std::move(pages_of_clock)),
      queue_pages(context.arenas),
      engine_(context.fabric.engine(context.device)),
      doorbells_(uars.page(0), uars.count(), uars.descriptor(), engine_.data_path()),
      clock_(clock_pages.page(0), clock_pages.descriptor(), engine_.data_path(), &engine::clock_now) {
  engine_.execute([this] {
    engine_.add_uar_pages(doorbells_);
    engine_.add_clock(clock_);
  });
}

engine::UarRegister ContextPart::choose_register() {
  engine::UarRegister chosen;
  engine_.execute([&] { chosen = doorbells_.least_used(); });
  return chosen;
}

void ContextPart::watch(std::uint32_t page, memory::Descriptor faults, std::uint64_t address) {
  engine_.execute([&] { engine_.watch_uar_page(doorbells_, page, std::move(faults), address); });
}

void ContextPart::start_clock() {
  engine_.execute([this] { clock_.start(); });
}

void ContextPart::watch_clock(memory::Descriptor faults, std::uint64_t address) {
  engine_.execute([&] { engine_.watch_clock(clock_, std::move(faults), address); });
}

void ContextPart::attach(QueuePair& qp) {
  const auto* const place = static_cast<const QueuePairPlace*>(qp.place.get());
  if (place == nullptr) return;
  completed.add(wire::Qpn{qp.qpn}, place->rings->as_completed());
  if (place->has_sends) doorbells_.attach(place->doorbell, *qp.shared->hosted);
}

void ContextPart::withdraw(QueuePair& qp) {
  const auto* const place = static_cast<const QueuePairPlace*>(qp.place.get());
  if (place == nullptr) return;
  completed.remove(wire::Qpn{qp.qpn});
  if (place->has_sends) doorbells_.detach(place->doorbell, *qp.shared->hosted);
}

void ContextPart::withdraw(SharedReceiveQueue& srq) {
  if (srq.xrcd != nullptr) completed.remove_xrc(srq.queue->number());
}

void ContextPart::attach(CompletionQueue& cq) {
  if (cq.channel == nullptr) return;
  engine_.execute([&] { doorbells_.attach(*cq.queue); });
}

void ContextPart::withdraw(CompletionQueue& cq) { doorbells_.detach(*cq.queue); }

void ContextPart::remove_from_engine() {
  engine_.remove_uar_pages(doorbells_);
  engine_.remove_clock(clock_);
}

}  // namespace urnic::control::mlx5
