#include "device_model/control/mlx5/context_part.hpp"

#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"

namespace urnic::control::mlx5 {

ContextPart::ContextPart(Context& context, UarMemory pages, DescriptorDisposal* disposal, pid_t program)
    : uars(std::move(pages)),
      queue_pages(context.arenas),
      engine_(context.fabric.engine(context.device)),
      doorbells_(uars.page(0), uars.count(), uars.descriptor(), engine_.data_path()),
      disposal_(disposal),
      program_(program) {
  engine_.execute([this] { engine_.add_uar_pages(doorbells_); });
}

ContextPart::~ContextPart() {
  if (disposal_ != nullptr) disposal_->close(ended_watches_, program_);
}

engine::UarRegister ContextPart::choose_register() {
  engine::UarRegister chosen;
  engine_.execute([&] { chosen = doorbells_.least_used(); });
  return chosen;
}

void ContextPart::watch(std::uint32_t page, memory::Descriptor& faults, std::uint64_t address) {
  engine_.execute([&] { engine_.watch_uar_page(doorbells_, page, faults, address); });
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

void ContextPart::remove_from_engine() { ended_watches_ = engine_.remove_uar_pages(doorbells_); }

}  // namespace urnic::control::mlx5
