// An opened device: the memory shared with the program, and all objects that the program has created.
// Destroyed with its last connection.
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
#include "device_model/control/objects/arena_allocator.hpp"
#include "device_model/control/objects/doorbell_numbers.hpp"
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/control/objects/memory_objects.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/control/objects/steering_objects.hpp"

namespace urnic::engine {
class DoorbellSet;
}

namespace urnic::control {

// What a face of the device that is not the plugin's keeps with a context: control/mlx5.
class FacePart {
 public:
  FacePart() = default;
  virtual ~FacePart() = default;
  FacePart(const FacePart&) = delete;
  FacePart& operator=(const FacePart&) = delete;

  // All on the engine's thread. The object has an engine part, and `place`, unless it is an XRC target.
  virtual void attach(QueuePair& qp) = 0;
  virtual void withdraw(QueuePair& qp) = 0;
  virtual void withdraw(SharedReceiveQueue& srq) = 0;
  virtual void withdraw(CompletionQueue& cq) = 0;
  // The process, one of several that have the context, has ended its connection. On the control thread.
  virtual void withdraw(const Process& process) = 0;
  // The engine works for the context no more.
  virtual void remove_from_engine() = 0;
};

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
  // Throws std::system_error without memory or descriptors. `shared`: the objects of the context that this
  // one imports; null: makes its own.
  Context(std::uint32_t id, const abi::ContextToken& token, Fabric& fabric, ServedDevice& device,
          std::unique_ptr<engine::EventPipe> async_events, const std::shared_ptr<MemoryObjects>& shared,
          const std::shared_ptr<Account>& account);
  // Destroys all objects.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Does a portion of the destructor's work in advance: first objects that lead to QPs, then QPs. False:
  // nothing is left. Only when no program has the context any more.
  bool remove_portion();

  const std::uint32_t id;
  const abi::ContextToken token;
  Fabric& fabric;
  ServedDevice& device;

  engine::EventPipe& async_events() { return *async_events_; }
  engine::DoorbellSet& doorbells() { return *doorbells_; }
  int doorbell_descriptor() const { return doorbell_memory_.get(); }
  int wake_descriptor() const { return wake_.get(); }

  // A doorbell that the program rings for the QP reaches it, if it has one; or does not any more. On the
  // engine's thread.
  void attach_doorbell(QueuePair& qp);
  void detach_doorbell(QueuePair& qp);

  // Removes the object's engine part; returns its asynchronous events. On the engine's thread; the object is
  // destroyed on the control thread afterwards.
  engine::EventsTold withdraw(QueuePair& qp);
  engine::EventsTold withdraw(SharedReceiveQueue& srq);
  engine::EventsTold withdraw(CompletionQueue& cq);
  void withdraw(const AddressHandle& address);

  void add_process(const std::shared_ptr<Process>& process);
  // The objects for a context that imports this one. From now on `several_processes`.
  std::shared_ptr<MemoryObjects> share_memory();
  // Whether there was ever more than one. Read by the engine thread.
  const bool& several_processes() const { return several_processes_; }
  // The processes with open connections.
  std::vector<std::shared_ptr<Process>> processes() const;

  CompletionChannel* find_channel(std::uint64_t inode) const;
  // Throws std::system_error with EMFILE if the program has too many.
  void add_channel(std::unique_ptr<engine::EventPipe> pipe, Charge charge);

  ObjectCounts counts() const;

  std::uint32_t queue_pairs_opened = 0;  // ever; the last one's ordinal
  bool ending = false;                   // no program has it any more; it is being destroyed
  ArenaAllocator arenas;
  DoorbellNumbers doorbell_numbers;
  std::unique_ptr<FacePart> face;  // null: the plugin's; goes after the queues

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
  // Each removes a portion of its kind; false if nothing was left.
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
  std::uint32_t portions_unbound_ = 0;  // of the windows of the QPs to remove next
};

}  // namespace urnic::control
