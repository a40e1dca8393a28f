// Queue pairs and their queues, and address handles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/control/fabric/capacity.hpp"
#include "device_model/control/fabric/multicast_members.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/arena_allocator.hpp"
#include "device_model/control/objects/doorbell_numbers.hpp"
#include "device_model/control/objects/memory_objects.hpp"
#include "device_model/control/objects/opened_xrc_domain.hpp"
#include "device_model/control/objects/queue_place.hpp"
#include "device_model/control/objects/use.hpp"
#include "device_model/engine/completion/event_source.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {
class CompletionQueue;
class EventPipe;
class QueuePairContext;
class SharedReceiveQueue;
class TagMatching;
struct QueuePairConfig;
}  // namespace urnic::engine

namespace urnic::control {

struct AddressHandle {
  Share share;
  Use<ProtectionDomain> pd;
  std::uint32_t number = 0;  // in the device's table
};

// CQs send their events to it.
struct CompletionChannel : Usable {
  CompletionChannel(Charge for_it, std::unique_ptr<engine::EventPipe> to);
  ~CompletionChannel();

  Charge charge;
  std::unique_ptr<engine::EventPipe> pipe;
};

// QPs and SRQs complete to it.
struct CompletionQueue : Usable {
  CompletionQueue();
  ~CompletionQueue();

  Share share;
  Charge charge;
  Use<CompletionChannel> channel;  // may be null
  std::uint32_t number = 0;        // no other CQ of the device has it
  ArenaBlock ring;
  ArenaBlock next_ring;  // during a resize
  ArenaBlock indices;
  std::unique_ptr<QueuePlace> place;  // for another face, instead of the blocks
  std::unique_ptr<engine::CompletionQueue> queue;
};

// The additional parts of a tag-matching SRQ.
struct TagMatching {
  TagMatching();
  ~TagMatching();

  Use<CompletionQueue> cq;
  DoorbellNumber doorbell;
  ArenaBlock operations;
  ArenaBlock indices;
  std::unique_ptr<engine::TagMatching> matching;
};

// QPs take receives from it.
struct SharedReceiveQueue : Usable {
  SharedReceiveQueue();
  ~SharedReceiveQueue();

  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  Use<OpenXrcDomain> xrcd;  // with `cq`, of an XRC SRQ; or null
  Use<CompletionQueue> cq;
  std::uint64_t user_handle = 0;
  std::uint32_t slot_count = 0;
  std::uint32_t slot_size = 0;  // bytes
  std::uint32_t max_wr = 0;     // the actual size
  std::uint32_t max_sge = 0;
  ArenaBlock slots;
  ArenaBlock posted;
  ArenaBlock indices;
  std::unique_ptr<QueuePlace> place;  // for another face, instead of the blocks
  std::set<std::uint32_t> qpns;       // of the QPs that take receives from it
  std::unique_ptr<engine::SharedReceiveQueue> queue;
  std::unique_ptr<TagMatching> tags;  // may be null; goes before the queue
};

// The part of a QP that its openers share: several contexts can open an XRC target (ibv_open_qp(3)); it is
// destroyed with the last of them. Every other QP has one opener.
struct SharedQueuePair {
  explicit SharedQueuePair(engine::QueuePairConfig config);
  ~SharedQueuePair();

  abi::QueuePairIndices own_indices{};                     // of an XRC target, to which no program posts
  const std::unique_ptr<engine::QueuePairContext> hosted;  // null: the device had no free QPN
  abi::QpAttributes attributes{};                          // all that modify has set, except the state
  std::optional<wire::NetworkHeaders> path{};              // from RTR on
};

// A QP as one context has opened it. Flows and RSS QPs may refer to it.
struct QueuePair : Usable {
  QueuePair();
  ~QueuePair();

  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;         // null: an XRC target
  Use<CompletionQueue> send_cq;     // null: an XRC target
  Use<CompletionQueue> receive_cq;  // null: an XRC QP of either kind
  Use<OpenXrcDomain> xrcd;          // of an XRC target, else null
  Use<SharedReceiveQueue> srq;      // may be null
  transport::QpService service = transport::QpService::rc;
  abi::CreateQpRequest request{};
  abi::CreateQpReply given{};  // the actual sizes
  engine::EventSource event_source;
  std::uint32_t qpn = 0;
  DoorbellNumber doorbell;  // an XRC target has none
  ArenaBlock send_ring;
  ArenaBlock receive_ring;
  ArenaBlock indices;
  std::unique_ptr<QueuePlace> place;  // for another face, instead of the blocks
  std::shared_ptr<SharedQueuePair> shared;
  std::vector<Membership> groups;
  std::uint32_t declined_ece = 0;      // options that its peer lacks
  std::uint32_t portions_unbound = 0;  // of its windows, before its removal
};

}  // namespace urnic::control
