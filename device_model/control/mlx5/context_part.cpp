#include "device_model/control/mlx5/context_part.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include "device_model/control/mlx5/queue_places.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/loop/clock_now.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/memory/null_memory.hpp"

namespace urnic::control::mlx5 {

namespace {

memory::RegionSpec nowhere() {
  static memory::NullMemory memory;
  return {.memory = &memory,
          .pd = {},
          .length = std::numeric_limits<std::uint64_t>::max(),
          .access = std::uint32_t{memory::access_local_write} | memory::access_placed_by_device |
                    memory::access_in_all_domains};
}

engine::PageHolder holder_of(const Process& process) { return {&process}; }

}  // namespace

static_assert(kPageBytes == engine::WatchedPage::kBytes);

ContextPart::ContextPart(Context& context, DevicePages uar_pages, DevicePages pages_of_clock,
                         DescriptorDisposal* disposal, pid_t program)
    : uars(std::move(uar_pages)),
      clock_pages(std::move(pages_of_clock)),
      queue_pages(context.arenas),
      context_(context),
      engine_(context.fabric.engine(context.device)),
      doorbells_(uars.page(0), uars.count(), uars.descriptor(), engine_.data_path()),
      clock_(clock_pages.page(0), clock_pages.descriptor(), engine_.data_path(), &engine::clock_now),
      disposal_(disposal),
      program_(program) {
  engine_.execute([this] {
    engine_.add_uar_pages(doorbells_);
    engine_.add_clock(clock_);
    null_key_ = context_.device.device->memory_table().add_region(nowhere());
  });
}

ContextPart::~ContextPart() { dispose(ended_watches_); }

void ContextPart::dispose(std::vector<memory::Descriptor>& ended) {
  if (disposal_ != nullptr) disposal_->close(ended, program_);
}

engine::UarRegister ContextPart::choose_register() {
  engine::UarRegister chosen;
  engine_.execute([&] { chosen = doorbells_.least_used(static_uars()); });
  return chosen;
}

std::optional<std::uint32_t> ContextPart::dedicated_uar(std::uint32_t index) const {
  if (index >= kDedicatedUars || !mapped_uars_[index]) return std::nullopt;
  return static_uars() + index;
}

std::optional<std::uint32_t> ContextPart::map_dedicated_uar(std::uint32_t index) {
  if (index < kDedicatedUars) mapped_uars_[index] = true;
  return dedicated_uar(index);
}

std::optional<std::uint32_t> ContextPart::allocate_uar() {
  const auto free = std::find(allocated_uars_.begin(), allocated_uars_.end(), false);
  if (free == allocated_uars_.end()) return std::nullopt;
  *free = true;
  const std::uint32_t page = first_dynamic_uar() + static_cast<std::uint32_t>(free - allocated_uars_.begin());
  // Whoever had it before has unmapped it.
  std::vector<memory::Descriptor> ended;
  engine_.execute([&] { ended = engine_.out_of_sleeper(doorbells_.release_all(page)); });
  dispose(ended);
  return page;
}

bool ContextPart::is_allocated_uar(std::uint32_t page) const {
  return page >= first_dynamic_uar() && page < uars.count() && allocated_uars_[page - first_dynamic_uar()];
}

bool ContextPart::free_uar(std::uint32_t page) {
  if (!is_allocated_uar(page)) return false;
  allocated_uars_[page - first_dynamic_uar()] = false;
  return true;
}

void ContextPart::hold(std::uint32_t page, const Process& process) {
  engine_.execute([&] { doorbells_.hold(page, holder_of(process)); });
}

void ContextPart::watch(std::uint32_t page, const Process& process, memory::Descriptor& faults,
                        std::uint64_t address) {
  engine_.execute([&] { engine_.watch_uar_page(doorbells_, page, holder_of(process), faults, address); });
}

void ContextPart::hold_clock(const Process& process) {
  engine_.execute([&] { clock_.hold(holder_of(process)); });
}

void ContextPart::watch_clock(const Process& process, memory::Descriptor& faults, std::uint64_t address) {
  engine_.execute([&] { engine_.watch_clock(clock_, holder_of(process), faults, address); });
}

std::uint16_t ContextPart::name_pages_of(std::uint32_t device_memory) {
  constexpr std::size_t kMostNumbers = 1u << 16;
  auto& named = named_memories_;
  auto place = std::find(named.begin(), named.end(), device_memory);
  if (place == named.end() && named.size() < kMostNumbers) place = named.insert(named.end(), device_memory);
  if (place == named.end()) {
    place = std::find_if(named.begin(), named.end(), [this](std::uint32_t handle) {
      return context_.device_memories.find(handle) == nullptr;
    });
  }
  if (place == named.end()) throw std::system_error(ENOMEM, std::generic_category(), "device memory");
  *place = device_memory;
  return static_cast<std::uint16_t>(place - named.begin());
}

const DeviceMemory* ContextPart::find_pages(std::uint32_t number) const {
  return number < named_memories_.size() ? context_.device_memories.find(named_memories_[number]) : nullptr;
}

void ContextPart::attach(QueuePair& qp) {
  const auto* const place = static_cast<const QueuePairPlace*>(qp.place.get());
  if (place == nullptr) return;
  completed.add(wire::Qpn{qp.qpn}, place->rings->as_completed());
  for (const engine::UarRegister on : place->doorbells) doorbells_.attach(on, *qp.shared->hosted);
}

void ContextPart::withdraw(QueuePair& qp) {
  const auto* const place = static_cast<const QueuePairPlace*>(qp.place.get());
  if (place == nullptr) return;
  completed.remove(wire::Qpn{qp.qpn});
  for (const engine::UarRegister on : place->doorbells) doorbells_.detach(on, *qp.shared->hosted);
}

void ContextPart::withdraw(SharedReceiveQueue& srq) {
  if (srq.xrcd != nullptr) completed.remove_xrc(srq.queue->number());
}

void ContextPart::attach(CompletionQueue& cq, std::uint32_t page) {
  if (cq.channel == nullptr) return;
  engine_.execute([&] { doorbells_.attach(*cq.queue, page); });
}

void ContextPart::withdraw(CompletionQueue& cq) { doorbells_.detach(*cq.queue); }

void ContextPart::withdraw(const Process& process) {
  std::vector<memory::Descriptor> ended;
  engine_.execute([&] {
    ended = doorbells_.release(holder_of(process));
    for (memory::Descriptor& faults : clock_.release(holder_of(process))) ended.push_back(std::move(faults));
    ended = engine_.out_of_sleeper(std::move(ended));
  });
  dispose(ended);
}

void ContextPart::remove_from_engine() {
  ended_watches_ = engine_.remove_uar_pages(doorbells_);
  for (memory::Descriptor& each : engine_.remove_clock(clock_)) ended_watches_.push_back(std::move(each));
  if (null_key_) context_.device.device->memory_table().remove_region(*null_key_);
}

}  // namespace urnic::control::mlx5
