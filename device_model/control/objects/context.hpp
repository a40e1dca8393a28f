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
#include "device_model/control/objects/handle_table.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/control/objects/memory_objects.hpp"
#include "device_model/control/objects/process.hpp"
#include "device_model/control/objects/xrc_domain.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/receives/tag_matching.hpp"
#include "device_model/engine/steering/receive_spreading.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {

struct AddressHandle {
  ProtectionDomain* pd = nullptr;
  std::uint32_t number = 0;  // in the device's table
};

struct CompletionChannel {
  Charge charge;
  std::unique_ptr<engine::EventPipe> pipe;
  std::uint32_t users = 0;  // CQs that report to it
};

struct CompletionQueue {
  Charge charge;
  CompletionChannel* channel = nullptr;  // may be null
  std::uint64_t user_handle = 0;
  std::uint32_t users = 0;  // QPs and SRQs that complete here, a QP with one CQ for both counting twice
  ArenaBlock ring;
  ArenaBlock next_ring;  // while it is being resized
  ArenaBlock indices;
  std::unique_ptr<engine::CompletionQueue> queue;
};

// What makes an SRQ a tag-matching one.
struct TagMatching {
  CompletionQueue* cq = nullptr;
  std::uint32_t doorbell = 0;
  ArenaBlock operations;
  ArenaBlock indices;
  std::unique_ptr<engine::TagMatching> matching;
};

struct SharedReceiveQueue {
  Charge charge;
  ProtectionDomain* pd = nullptr;
  OpenXrcDomain* xrcd = nullptr;  // with `cq`, of extended reliable connections; or null
  CompletionQueue* cq = nullptr;
  std::uint64_t user_handle = 0;
  std::uint32_t users = 0;  // QPs that take receives from it
  std::uint32_t slot_count = 0;
  std::uint32_t slot_size = 0;  // bytes
  std::uint32_t max_wr = 0;     // as given
  std::uint32_t max_sge = 0;
  ArenaBlock slots;
  ArenaBlock posted;
  ArenaBlock indices;
  std::unique_ptr<engine::SharedReceiveQueue> queue;
  std::unique_ptr<TagMatching> tags;  // may be null; goes before the queue
};

// A QP and what modify has set of it. An XRC target is one that all have who opened it (ibv_open_qp(3)); it
// dies with the last of them.
struct DeviceQueuePair {
  abi::QueuePairIndices own_indices{};  // of an XRC target, which no program posts to
  std::unique_ptr<engine::QueuePairContext> hosted;
  abi::QpAttributes attributes{};              // all that modify has set, without the state
  std::optional<wire::NetworkHeaders> path{};  // from RTR on
};

struct QueuePair {
  Charge charge;
  ProtectionDomain* pd = nullptr;         // null: an XRC target has none
  CompletionQueue* send_cq = nullptr;     // null: an XRC target
  CompletionQueue* receive_cq = nullptr;  // null: an XRC QP of either kind
  OpenXrcDomain* xrcd = nullptr;          // of an XRC target, or null
  SharedReceiveQueue* srq = nullptr;      // may be null
  transport::QpService service = transport::QpService::rc;
  abi::CreateQpRequest request{};
  abi::CreateQpReply given{};  // sizes as given
  std::uint64_t user_handle = 0;
  std::uint32_t qpn = 0;
  std::uint32_t doorbell = 0;
  ArenaBlock send_ring;
  ArenaBlock receive_ring;
  ArenaBlock indices;
  std::shared_ptr<DeviceQueuePair> device_end;
  std::vector<wire::Gid> groups;       // that it is attached to
  std::uint32_t declined_ece = 0;      // options that its peer does not have
  std::uint32_t flows = 0;             // that lead to it
  std::uint32_t spreaders = 0;         // entries of RSS QPs
  std::uint32_t portions_unbound = 0;  // of its windows, when it is about to go

  bool has_doorbell() const { return xrcd == nullptr; }
};

struct RssQueuePair {
  Charge charge;
  ProtectionDomain* pd = nullptr;
  std::vector<QueuePair*> queues;
  std::unique_ptr<engine::ReceiveSpreading> spreading;
  std::uint32_t flows = 0;  // that lead to it
};

struct FlowCounters {
  engine::RuleCounters values;  // the engine's to change
  std::uint32_t users = 0;      // flows that count here
};

// Leads to one of the two.
struct Flow {
  QueuePair* qp = nullptr;
  RssQueuePair* rss_qp = nullptr;
  FlowCounters* counters = nullptr;  // or none
  std::uint32_t number = 0;          // of its rule, in the device's table
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

  // Doorbell numbers of this context. Throws std::system_error with ENOMEM when all are in use.
  std::uint32_t take_doorbell();
  void give_doorbell(std::uint32_t number) { free_doorbells_.push_back(number); }

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
  bool remove_flow_counters();
  bool remove_rss_queue_pairs();
  bool remove_queue_pairs();
  bool remove_shared_receive_queues();
  bool remove_xrc_domains();
  bool remove_address_handles();
  bool remove_memory();
  bool remove_completion_queues();
  bool remove_from_engine();
  void drop_closed_channels();

  std::unique_ptr<engine::EventPipe> async_events_;
  memory::Descriptor doorbell_memory_;
  SharedMapping doorbell_mapping_;
  memory::Descriptor wake_;
  std::unique_ptr<engine::DoorbellSet> doorbells_;
  std::uint32_t next_doorbell_ = 0;
  std::vector<std::uint32_t> free_doorbells_;
  std::unordered_map<std::uint64_t, std::unique_ptr<CompletionChannel>> channels_;
  std::vector<std::weak_ptr<Process>> processes_;
  bool several_processes_ = false;
  std::uint32_t portions_unbound_ = 0;  // of the windows of those QPs that go next
};

}  // namespace urnic::control
