// What the mlx5 face keeps with a context, beside the objects that all faces have.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/mlx5/device_pages.hpp"
#include "device_model/control/mlx5/mlx5_limits.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/objects/queue_pages.hpp"
#include "device_model/engine/doorbells/clock_pages.hpp"
#include "device_model/engine/doorbells/uar_pages.hpp"
#include "device_model/engine/mlx5_rings/completed_queues.hpp"

namespace urnic::control::mlx5 {

// Handles of work queues, a power of two of them.
using IndirectionTable = std::vector<std::uint32_t>;

// Which count of a steering rule's counters a program reads at which place.
struct CounterPoint {
  bool counts_bytes = false;  // or packets
  std::uint32_t index = 0;    // below kMostCounterPoints
};
inline constexpr std::uint32_t kMostCounterPoints = 32;

class ContextPart final : public FacePart {
 public:
  // The engine looks at the pages from here on, until `remove_from_engine`. The last pages are kDedicatedUars
  // and, for `allocate_uar`, kDynamicUars. `disposal`, if not null, closes userfaultfds of the process
  // `program`: the end of one waits for the lock of its program's memory.
  ContextPart(Context& context, DevicePages uar_pages, DevicePages clock_pages, DescriptorDisposal* disposal,
              pid_t program);
  ~ContextPart() override;

  // Of the pages that the program has had since it opened the context.
  std::uint32_t static_uars() const { return uars.count() - kDedicatedUars - kDynamicUars; }
  // The page of that index among the dedicated ones, which the program has mapped. Empty: it has not, or
  // there is none.
  std::optional<std::uint32_t> dedicated_uar(std::uint32_t index) const;
  // As dedicated_uar; it is mapped now.
  std::optional<std::uint32_t> map_dedicated_uar(std::uint32_t index);
  // For a new QP: the register with the fewest.
  engine::UarRegister choose_register();
  // The number of a page, for which `free_uar` is called; empty: there is none left.
  std::optional<std::uint32_t> allocate_uar();
  // False: the page is not allocated. Its queues go on.
  bool free_uar(std::uint32_t page);
  bool is_allocated_uar(std::uint32_t page) const;
  // The process maps the page; then it watches the page by `faults`, which is taken: engine::WatchedPage.
  void hold(std::uint32_t page, const Process& process);
  void watch(std::uint32_t page, const Process& process, memory::Descriptor& faults, std::uint64_t address);
  // The same of the clock's page.
  void hold_clock(const Process& process);
  void watch_clock(const Process& process, memory::Descriptor& faults, std::uint64_t address);
  // For CQEs.
  engine::CompletionClock& clock() { return clock_; }
  // The L_Key of memory that is nowhere (ibv_alloc_null_mr(3)), which QPs of all protection domains may use,
  // as a ConnectX has one for each context. Empty: the device had no key left.
  std::optional<transport::Lkey> null_key() const { return null_key_; }
  // The number by which mmap(2) names the pages of this device memory. Throws std::system_error with ENOMEM
  // if all numbers name others.
  std::uint16_t name_pages_of(std::uint32_t device_memory);
  // Null: nothing has the number.
  const DeviceMemory* find_pages(std::uint32_t number) const;
  // Requests for events of the CQ, in that page, reach it. On the control thread, when the CQ has its engine
  // part.
  void attach(CompletionQueue& cq, std::uint32_t page);

  // FacePart
  void attach(QueuePair& qp) override;
  void withdraw(QueuePair& qp) override;
  void withdraw(SharedReceiveQueue& srq) override;
  void withdraw(CompletionQueue& cq) override;
  void withdraw(const Process& process) override;
  void remove_from_engine() override;

  std::uint8_t cqe_version = 1;
  memory::Descriptor async_read_end{};  // for contexts that import this one
  DevicePages uars;
  DevicePages clock_pages;
  QueuePages queue_pages;
  HandleTable<IndirectionTable> indirection_tables;
  std::unordered_map<std::uint32_t, std::vector<CounterPoint>> counter_points;  // by the counters' handle
  engine::mlx5::CompletedQueues completed;  // changed on the engine's thread only

 private:
  std::uint32_t first_dynamic_uar() const { return static_uars() + kDedicatedUars; }
  void dispose(std::vector<memory::Descriptor>& ended);

  std::array<bool, kDedicatedUars> mapped_uars_{};
  std::array<bool, kDynamicUars> allocated_uars_{};
  std::optional<transport::Lkey> null_key_;
  Context& context_;
  std::vector<std::uint32_t> named_memories_;  // handles, by number; those that are gone give up their number
  engine::Engine& engine_;
  engine::UarPages doorbells_;
  engine::ClockPages clock_;
  DescriptorDisposal* const disposal_;
  const pid_t program_;
  std::vector<memory::Descriptor> ended_watches_;
};

// Null: the context was opened by way of another face.
inline ContextPart* part_of(const Context& context) { return dynamic_cast<ContextPart*>(context.face.get()); }

}  // namespace urnic::control::mlx5
