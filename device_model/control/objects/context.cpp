#include "device_model/control/objects/context.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/objects/portions.hpp"

namespace urnic::control {
namespace {

// How many QPs go between two of the engine's batches when a program ends: other programs' packets wait.
constexpr std::size_t kRemovedAtOnce = 16;

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

memory::Descriptor make_doorbell_memory() {
  memory::Descriptor descriptor(memfd_create("urnic-doorbells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor) fail(errno, "memfd_create");
  const auto size = static_cast<off_t>(sizeof(abi::Doorbells));
  if (ftruncate(descriptor.get(), size) != 0 || fallocate(descriptor.get(), 0, 0, size) != 0) {
    fail(ENOMEM, "doorbell memory");
  }
  if (fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    fail(errno, "F_ADD_SEALS");
  }
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
                 std::shared_ptr<MemoryObjects> shared, const std::shared_ptr<Account>& account)
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
    log::critical("context {}: cannot be taken down: {}", id, error.what());
    std::terminate();  // the engine would go on using memory that is about to go
  }
}

bool Context::remove_portion() {
  return remove_flows() || remove_flow_counters() || remove_rss_queue_pairs() || remove_queue_pairs() ||
         remove_shared_receive_queues() || remove_xrc_domains() || remove_address_handles() ||
         remove_memory() || remove_completion_queues() || remove_from_engine();
}

bool Context::remove_flows() {
  const auto some = flows.take_some(kPortion);
  if (some.empty()) return false;
  std::vector<std::uint32_t> numbers;
  for (const auto& flow : some) numbers.push_back(flow->number);
  std::sort(numbers.begin(), numbers.end());
  fabric.engine(device).execute([&] { device.device->remove_steering_rules(numbers); });
  device.flows -= static_cast<std::uint32_t>(some.size());
  return true;
}

bool Context::remove_flow_counters() {
  const auto some = flow_counters.take_some(kPortion);
  device.flow_counters -= static_cast<std::uint32_t>(some.size());
  return !some.empty();
}

bool Context::remove_rss_queue_pairs() {
  const auto some = rss_qps.take_some(kPortion);
  for (const auto& qp : some) --qp->pd->users;
  device.queue_pairs -= static_cast<std::uint32_t>(some.size());
  return !some.empty();
}

bool Context::remove_queue_pairs() {
  std::vector<wire::Qpn> numbers;
  for (auto next = qps.begin(); next != qps.end() && numbers.size() < kRemovedAtOnce; ++next)
    numbers.push_back(wire::Qpn{next->second->qpn});
  if (numbers.empty()) return false;
  if (unbind_portion(fabric.engine(device), *device.device, numbers, portions_unbound_)) return true;
  portions_unbound_ = 0;

  const auto some = qps.take_some(kRemovedAtOnce);
  fabric.engine(device).execute([&] {
    for (const auto& qp : some) {
      if (qp->has_doorbell()) doorbells_->detach(qp->doorbell);
      qp->device_end->hosted->listeners().remove(*async_events_, qp->user_handle);
      qp->device_end.reset();  // which others may go on using
    }
  });
  for (const auto& qp : some) {
    for (const wire::Gid& group : qp->groups) device.leave_group(group);  // the engine has forgotten them
    if (qp->pd != nullptr) --qp->pd->users;  // it may be another context's as well, and stay
    if (qp->xrcd != nullptr) qp->xrcd->domain->drop_target_if_gone(qp->qpn);
  }
  device.queue_pairs -= static_cast<std::uint32_t>(some.size());
  return true;
}

bool Context::remove_shared_receive_queues() {
  const auto some = srqs.take_some(kPortion);
  if (some.empty()) return false;
  fabric.engine(device).execute([&] {
    for (const auto& srq : some) {
      if (srq->tags) doorbells_->detach(srq->tags->doorbell);
      srq->queue.reset();
    }
  });
  for (const auto& srq : some) --srq->pd->users;
  device.shared_receive_queues -= static_cast<std::uint32_t>(some.size());
  return true;
}

bool Context::remove_xrc_domains() {
  const auto some = xrc_domains.take_some(kPortion);
  device.xrc_domains -= static_cast<std::uint32_t>(some.size());
  return !some.empty();
}

bool Context::remove_address_handles() {
  const auto some = address_handles.take_some(kPortion);
  if (some.empty()) return false;
  fabric.engine(device).execute([&] {
    for (const auto& address : some) device.device->address_handles().remove(address->number);
  });
  for (const auto& address : some) --address->pd->users;
  device.address_handles -= static_cast<std::uint32_t>(some.size());
  return true;
}

// They stay if another context imports them.
bool Context::remove_memory() { return memory_.use_count() == 1 && memory_->remove_portion(); }

bool Context::remove_completion_queues() {
  const auto some = cqs.take_some(kPortion);
  if (some.empty()) return false;
  fabric.engine(device).execute([&] {
    for (const auto& cq : some) cq->queue.reset();
  });
  device.completion_queues -= static_cast<std::uint32_t>(some.size());
  return true;
}

bool Context::remove_from_engine() {
  if (doorbells_ == nullptr) return false;
  fabric.engine(device).execute([this] {
    fabric.engine(device).remove_doorbells(*doorbells_);
    doorbells_.reset();
    channels_.clear();
    device.device->events().remove(*async_events_);
    async_events_.reset();
  });
  return true;
}

std::uint32_t Context::take_doorbell() {
  if (!free_doorbells_.empty()) {
    const std::uint32_t number = free_doorbells_.back();
    free_doorbells_.pop_back();
    return number;
  }
  if (next_doorbell_ == abi::kDoorbellsPerContext) fail(ENOMEM, "doorbells of the context");
  return next_doorbell_++;
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
  auto channel = std::make_unique<CompletionChannel>();
  const std::uint64_t inode = pipe->inode();
  channel->pipe = std::move(pipe);
  channel->charge = std::move(charge);
  channels_.try_emplace(inode, std::move(channel));
}

// Nothing tells the device when a program closes a channel, so it looks when the next one is made.
void Context::drop_closed_channels() {
  std::erase_if(channels_,
                [](const auto& entry) { return entry.second->users == 0 && entry.second->pipe->closed(); });
}

ObjectCounts Context::counts() const {
  return {pds.size(),  regions.size(),   windows.size(),         cqs.size(),        qps.size(),
          srqs.size(), channels_.size(), address_handles.size(), xrc_domains.size()};
}

}  // namespace urnic::control
