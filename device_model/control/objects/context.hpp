// An opened device: the shared memory that a program and the device have in common, and all objects that the
// program has made. Dies with its last connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/abi/doorbells.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/arena.hpp"
#include "device_model/control/objects/doorbell_numbers.hpp"
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/control/objects/memory_objects.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/control/objects/steering_objects.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"

namespace urnic::control {

struct ObjectCounts {
  std::size_t pd = 0;
  std::size_t mr = 0;
  std::size_t mw = 0;
  std::size_t cq = 0;
  std::size_t qp = 0;
  std::size_t srq = 0;
  std::size_t channels = 0;
  std::size_t ah = 0;
  std::size_t xrcd = 0;
};

// Control thread only.
class Context {
  Charge charge_;

 public:
  // Throws std::system_error if there is no memory or there are no descriptors left.
  // `shared`: the objects of the context that this one imports; null: it gets its own.
  Context(std::uint32_t id, const abi::ContextToken& token, Fabric& fabric, ServedDevice& device,
          std::unique_ptr<engine::EventPipe> async_events, std::shared_ptr<MemoryObjects> shared,
          const std::shared_ptr<Account>& account);
  // Takes every object away.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // A portion of what the destructor does, which then has less to do: what leads to QPs first, then QPs.
  // False: there was nothing left. No program has the context any more.
  bool remove_portion();

  const std::uint32_t id;
  const abi::ContextToken token;
  Fabric& fabric;
  ServedDevice& device;

  engine::EventPipe& async_events() { return *async_events_; }
  engine::DoorbellSet& doorbells() { return *doorbells_; }
  int doorbell_descriptor() const { return doorbell_memory_.get(); }
  int wake_descriptor() const { return wake_.get(); }

  // The engine forgets the object and the object its engine end. On the engine's thread; the object itself
  // is destroyed on the control thread afterwards. Returns how many events the engine has reported of it.
  std::uint32_t withdraw(QueuePair& qp);
  std::uint32_t withdraw(SharedReceiveQueue& srq);
  std::uint32_t withdraw(CompletionQueue& cq);
  void withdraw(const AddressHandle& address);
  // Of an object's `reported` asynchronous events, takes those back that are not in the pipe yet; returns how
  // many are left, which the program reads. On the engine's thread.
  std::uint32_t drop_unsent(std::uint32_t reported, std::uint64_t user_handle);

  void add_process(const std::shared_ptr<Process>& process);
  // What a context that imports this one is to share. From now on there is more than one process.
  std::shared_ptr<MemoryObjects> share_memory();
  // Whether there has ever been more than one. The engine thread's to read.
  const bool& several_processes() const { return several_processes_; }
  // Those whose connections are open.
  std::vector<std::shared_ptr<Process>> processes() const;

  CompletionChannel* find_channel(std::uint64_t inode) const;
  // Throws std::system_error with EMFILE if the program has too many.
  void add_channel(std::unique_ptr<engine::EventPipe> pipe, Charge charge);

  ObjectCounts counts() const;

  std::uint32_t queue_pairs_opened = 0;  // in its life; the last one's ordinal
  bool ending = false;                   // no program has it any more; it is being taken down
  ArenaAllocator arenas;
  DoorbellNumbers doorbell_numbers;

 private:
  std::shared_ptr<MemoryObjects> memory_;

 public:
  HandleTable<ProtectionDomain>& pds;
  HandleTable<DeviceMemory>& device_memories;
  HandleTable<MemoryRegion>& regions;
  HandleTable<MemoryWindow>& windows;
  ArenaAllocator& device_memory_arenas;
  HandleTable<AddressHandle> address_handles;
  HandleTable<CompletionQueue> cqs;
  HandleTable<OpenXrcDomain> xrc_domains;
  HandleTable<SharedReceiveQueue> srqs;
  HandleTable<QueuePair> qps;
  HandleTable<RssQueuePair> rss_qps;
  HandleTable<FlowCounters> flow_counters;
  HandleTable<Flow> flows;

 private:
  // Each takes a portion away; false if nothing was left of its kind.
  bool remove_flows();
  bool remove_queue_pairs();
  bool remove_memory();
  bool remove_from_engine();
  void drop_closed_channels();

  std::unique_ptr<engine::EventPipe> async_events_;
  memory::Descriptor doorbell_memory_;
  SharedMapping doorbell_mapping_;
  memory::Descriptor wake_;
  std::unique_ptr<engine::DoorbellSet> doorbells_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CompletionChannel>> channels_;
  std::vector<std::weak_ptr<Process>> processes_;
  bool several_processes_ = false;
  std::uint32_t portions_unbound_ = 0;  // of the windows of those QPs that go next
};

}  // namespace urnic::control
