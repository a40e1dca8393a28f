#include "device_model/control/objects/program_context.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/receives/srq_tag_matching.hpp"
#include "device_model/memory/sealed_memory.hpp"

namespace urnic::control {
namespace {

// QPs removed between two batches of the engine when a program ends: other programs' packets wait meanwhile.
constexpr std::size_t kRemovedAtOnce = 16;

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

memory::Descriptor make_doorbell_memory() {
  memory::Descriptor descriptor = memory::make_sealed_memory("urnic-doorbells", sizeof(abi::Doorbells));
  if (!descriptor || fallocate(descriptor.get(), 0, 0, sizeof(abi::Doorbells)) != 0)
    fail(ENOMEM, "doorbell memory");
  return descriptor;
}

memory::Descriptor make_wake_event() {
  memory::Descriptor descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!descriptor) fail(errno, "eventfd");
  return descriptor;
}

}  // namespace

Context::Context(std::uint32_t context_id, const abi::ContextToken& context_token, Fabric& in_fabric,
                 ServedDevice& on_device, std::unique_ptr<engine::EventPipe> async_events,
                 const std::shared_ptr<MemoryObjects>& shared, const std::shared_ptr<Account>& account)
    : charge_(account->charge(Resource::contexts, 1, object_bytes::kContext)),
      id(context_id),
      token(context_token),
      fabric(in_fabric),
      device(on_device),
      arenas(limits::kMaxArenaBytes, account),
      memory_(shared != nullptr ? shared : std::make_shared<MemoryObjects>(in_fabric, on_device)),
      pds(memory_->pds),
      device_memories(memory_->device_memories),
      regions(memory_->regions),
      windows(memory_->windows),
      device_memory_arenas(memory_->device_memory_arenas),
      async_events_(std::move(async_events)),
      doorbell_memory_(make_doorbell_memory()),
      doorbell_mapping_(doorbell_memory_.get(), sizeof(abi::Doorbells)),
      wake_(make_wake_event()),
      doorbells_(std::make_unique<engine::DoorbellSet>(
          *reinterpret_cast<abi::Doorbells*>(doorbell_mapping_.data()), wake_.get())),
      several_processes_(shared != nullptr) {
  fabric.engine(device).execute([this] {
    fabric.engine(device).add_doorbells(*doorbells_);
    device.device->events().add(*async_events_);
  });
}

Context::~Context() {
  try {
    while (remove_portion()) {
    }
  } catch (const std::exception& error) {
    log::critical("context {}: cannot be destroyed: {}", id, error.what());
    std::terminate();  // otherwise the engine would use freed memory
  }
}

bool Context::remove_portion() {
  const auto remove = [this](auto& table) {
    return remove_some(table, fabric.engine(device), [this](auto& object) { this->withdraw(object); });
  };
  return remove_flows() || remove_some(flow_counters) || remove_some(rss_qps) || remove_queue_pairs() ||
         remove(srqs) || remove_some(xrc_domains) || remove(address_handles) || remove_memory() ||
         remove(cqs) || remove_from_engine();
}

bool Context::remove_flows() {
  const auto some = flows.take_some(kPortion);
  if (some.empty()) return false;
  std::vector<std::uint32_t> numbers;
  numbers.reserve(some.size());
  for (const auto& flow : some) numbers.push_back(flow->number);
  std::sort(numbers.begin(), numbers.end());
  fabric.engine(device).execute([&] { device.device->remove_steering_rules(numbers); });
  return true;
}

bool Context::remove_queue_pairs() {
  if (qps.empty()) return false;
  std::vector<wire::Qpn> numbers;
  for (auto next = qps.begin(); next != qps.end() && numbers.size() < kRemovedAtOnce; ++next)
    numbers.push_back(wire::Qpn{next->second->qpn});
  if (unbind_portion(fabric.engine(device), *device.device, numbers, portions_unbound_)) return true;
  portions_unbound_ = 0;
  return remove_some(
      qps, fabric.engine(device), [this](QueuePair& qp) { withdraw(qp); }, kRemovedAtOnce);
}

// They stay if another context has imported them.
bool Context::remove_memory() { return memory_.use_count() == 1 && memory_->remove_portion(); }

bool Context::remove_from_engine() {
  if (doorbells_ == nullptr) return false;
  fabric.engine(device).execute([this] {
    if (face != nullptr) face->remove_from_engine();
    fabric.engine(device).remove_doorbells(*doorbells_);
    doorbells_.reset();
    channels_.clear();
    device.device->events().remove(*async_events_);
    async_events_.reset();
  });
  return true;
}

void Context::attach_doorbell(QueuePair& qp) {
  if (qp.doorbell) doorbells_->attach(qp.doorbell.value(), *qp.shared->hosted);
  if (face != nullptr) face->attach(qp);
}

void Context::detach_doorbell(QueuePair& qp) {
  if (qp.doorbell) doorbells_->detach(qp.doorbell.value());
  if (face != nullptr) face->withdraw(qp);
}

engine::EventsTold Context::withdraw(QueuePair& qp) {
  detach_doorbell(qp);
  const std::uint32_t source = qp.event_source.number();
  const engine::EventsTold told{source, qp.shared->hosted->listeners().remove(source)};
  qp.shared.reset();  // other openers may still use it
  return told;
}

engine::EventsTold Context::withdraw(SharedReceiveQueue& srq) {
  if (srq.tags) doorbells_->detach(srq.tags->doorbell.value());
  if (face != nullptr) face->withdraw(srq);
  const engine::EventsTold told = srq.queue->async_events();
  srq.queue.reset();
  return told;
}

engine::EventsTold Context::withdraw(CompletionQueue& cq) {
  if (face != nullptr) face->withdraw(cq);
  const engine::EventsTold told = cq.queue->async_events();
  cq.queue.reset();
  return told;
}

void Context::withdraw(const AddressHandle& address) {
  device.device->address_handles().remove(address.number);
}

void Context::add_process(const std::shared_ptr<Process>& process) {
  if (!processes_.empty()) fabric.engine(device).execute([this] { several_processes_ = true; });
  std::erase_if(processes_, [](const auto& known) { return known.expired(); });
  processes_.push_back(process);
}

std::shared_ptr<MemoryObjects> Context::share_memory() {
  fabric.engine(device).execute([this] { several_processes_ = true; });
  return memory_;
}

std::vector<std::shared_ptr<Process>> Context::processes() const {
  std::vector<std::shared_ptr<Process>> alive;
  for (const auto& known : processes_) {
    if (auto process = known.lock()) alive.push_back(std::move(process));
  }
  return alive;
}

CompletionChannel* Context::find_channel(std::uint64_t inode) const {
  const auto found = channels_.find(inode);
  return found == channels_.end() ? nullptr : found->second.get();
}

void Context::add_channel(std::unique_ptr<engine::EventPipe> pipe, Charge charge) {
  drop_closed_channels();
  if (channels_.size() >= limits::kMaxChannels) fail(EMFILE, "completion channels of the context");
  const std::uint64_t inode = pipe->inode();
  channels_.try_emplace(inode, std::make_unique<CompletionChannel>(std::move(charge), std::move(pipe)));
}

// The device is not told when a program closes a channel, so it checks when the next one is made.
void Context::drop_closed_channels() {
  std::erase_if(channels_,
                [](const auto& entry) { return !entry.second->in_use() && entry.second->pipe->closed(); });
}

ObjectCounts Context::counts() const {
  return {pds.size(),  regions.size(),   windows.size(),         cqs.size(),        qps.size(),
          srqs.size(), channels_.size(), address_handles.size(), xrc_domains.size()};
}

}  // namespace urnic::control
