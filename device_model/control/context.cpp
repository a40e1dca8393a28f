#include "device_model/control/context.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "device_model/control/limits.hpp"
#include "device_model/control/multicast.hpp"
#include "device_model/control/portions.hpp"

namespace urnic::control {
namespace {

// How many QPs go between two of the engine's batches when a program ends: other programs' packets wait.
constexpr std::size_t kRemovedAtOnce = 32;

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
    remove_flows();
    remove_queue_pairs();
    remove_shared_receive_queues();
    remove_xrc_domains();
    remove_address_handles();
    memory_.reset();  // goes now, unless it is shared
    remove_completion();
  } catch (const std::exception& error) {
    spdlog::critical("context {}: cannot be taken down: {}", id, error.what());
    std::terminate();  // the engine would go on using memory that is about to go
  }
}

void Context::remove_flows() {
  std::vector<std::uint32_t> numbers;
  for (const auto& [handle, flow] : flows) numbers.push_back(flow->number);
  std::sort(numbers.begin(), numbers.end());
  if (!numbers.empty()) {
    fabric.engine(device).execute([&] { device.device->remove_steering_rules(numbers); });
  }
  device.flows -= static_cast<std::uint32_t>(flows.size());
  flows.clear();
  device.flow_counters -= static_cast<std::uint32_t>(flow_counters.size());
  flow_counters.clear();
  for (const auto& [handle, qp] : rss_qps) --qp->pd->users;
  device.queue_pairs -= static_cast<std::uint32_t>(rss_qps.size());
  rss_qps.clear();
}

void Context::remove_queue_pairs() {
  std::vector<QueuePair*> batch;
  const auto remove_batch = [&] {
    std::vector<wire::Qpn> numbers;
    for (const QueuePair* qp : batch) numbers.push_back(wire::Qpn{qp->qpn});
    release_windows(fabric.engine(device), *device.device, numbers);
    fabric.engine(device).execute([&] {
      for (QueuePair* qp : batch) {
        if (qp->has_doorbell()) doorbells_->detach(qp->doorbell);
        qp->device_end->hosted->remove_listener(*async_events_, qp->user_handle);
        qp->device_end.reset();  // which others may go on using
      }
    });
    batch.clear();
  };
  for (const auto& [handle, qp] : qps) {
    batch.push_back(qp.get());
    if (batch.size() == kRemovedAtOnce) remove_batch();
  }
  if (!batch.empty()) remove_batch();
  for (const auto& [handle, qp] : qps) {
    leave_all_groups(device, *qp);
    if (qp->pd != nullptr) --qp->pd->users;  // it may be another context's as well, and stay
    if (qp->xrcd != nullptr) qp->xrcd->domain->drop_target_if_gone(qp->qpn);
  }
  device.queue_pairs -= static_cast<std::uint32_t>(qps.size());
  qps.clear();
}

void Context::remove_shared_receive_queues() {
  visit_in_portions(fabric.engine(device), srqs, [this](const auto& entry) {
    SharedReceiveQueue& srq = *entry.second;
    if (srq.tags) doorbells_->detach(srq.tags->doorbell);
    srq.queue.reset();
  });
  for (const auto& [handle, srq] : srqs) --srq->pd->users;
  device.shared_receive_queues -= static_cast<std::uint32_t>(srqs.size());
  srqs.clear();
}

void Context::remove_xrc_domains() {
  device.xrc_domains -= static_cast<std::uint32_t>(xrc_domains.size());
  xrc_domains.clear();
}

void Context::remove_address_handles() {
  engine::AddressHandleTable& addresses = device.device->address_handles();
  visit_in_portions(fabric.engine(device), address_handles,
                    [&](const auto& entry) { addresses.remove(entry.second->number); });
  for (const auto& [handle, address] : address_handles) --address->pd->users;
  device.address_handles -= static_cast<std::uint32_t>(address_handles.size());
  address_handles.clear();
}

void Context::remove_completion() {
  visit_in_portions(fabric.engine(device), cqs, [](const auto& entry) { entry.second->queue.reset(); });
  fabric.engine(device).execute([this] {
    fabric.engine(device).remove_doorbells(*doorbells_);
    doorbells_.reset();
    channels_.clear();
    device.device->events().remove(*async_events_);
    async_events_.reset();
  });
  device.completion_queues -= static_cast<std::uint32_t>(cqs.size());
  cqs.clear();
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
