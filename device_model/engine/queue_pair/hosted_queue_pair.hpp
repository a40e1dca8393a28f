// A transport queue pair with everything around it that the device provides: its rings in shared memory, its
// CQs, its path through the port. The engine's implementation of the transport's Host, SendQueue and
// ReceiveQueue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/reliable/queue_pair.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

class CompletionQueue;
class Device;
class EventPipe;
class QueuePairContext;
class SharedReceiveQueue;
class TagMatching;
class XrcDomain;

struct HostedQueuePairConfig {
  Device* device = nullptr;
  transport::QpService service = transport::QpService::rc;
  transport::PdId pd;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  EventPipe* async_events = nullptr;
  std::uint64_t user_handle = 0;    // what asynchronous events carry
  XrcDomain* xrc_domain = nullptr;  // of an XRC target, which has neither CQs nor receives of its own
  std::uint32_t context = 0;        // the number of its program's context
  std::uint32_t ordinal = 1;        // 1 is the first QP that its program opened on the device
  bool signal_all = false;
  std::byte* send_ring = nullptr;  // may be null with 0 slots
  std::uint32_t send_slots = 0;    // a power of two
  std::uint32_t send_slot_size = 0;
  std::byte* receive_ring = nullptr;
  std::uint32_t receive_slots = 0;
  std::uint32_t receive_slot_size = 0;
  SharedReceiveQueue* shared_receive_queue = nullptr;  // where it takes receives from; null: its own ring
  // Of that SRQ, if it has it: then the QP is RC, has no send ring, and its CQs are null, for all completions
  // are the SRQ's.
  TagMatching* tag_matching = nullptr;
  abi::QueuePairIndices* indices = nullptr;
  // Whether several processes use the program's context, so that who polls may not be whose memory it is.
  // Only the engine thread looks, only its tasks change it. Null: they may.
  const bool* several_processes = nullptr;
  transport::RecoverySettings recovery{.mode = transport::RecoveryMode::go_back_n};
};

class HostedQueuePair {
 public:
  // Makes the QP, with private copies of its slots so that a WQE is read from shared memory once. May be
  // built on any thread; `install` and everything after on the engine thread, or on any once it is certain
  // that `install` was not called or returned false. Slot sizes are at least a WQE's head. Everything that
  // `config` refers to outlives this.
  explicit HostedQueuePair(const HostedQueuePairConfig& config);
  ~HostedQueuePair();  // removes itself from the device's tables if installed

  // Puts it into the device's QP table; false if the device has as many QPs as it can.
  bool install();
  // The rest only after `install` returned true.
  wire::Qpn qpn() const;

  transport::QpState state() const;
  const transport::QpParameters& parameters() const;
  bool drained() const;
  // As transport::QueuePair::modify; `path` is needed from RTR on. To reset: the rings' indices start at 0.
  void modify(transport::QpState state, const transport::QpParameters& parameters,
              const std::optional<wire::NetworkHeaders>& path, bool notify_drained = false);

  // As transport::QueuePair::set_recovery.
  void set_recovery(const transport::RecoverySettings& settings);

  // How fast its packets may follow one another, and how many bytes may go together; 0 kbit/s: as they come.
  // Of a service that acknowledges, acknowledgements wait as well.
  void limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes);

  // For the engine, which rings its doorbell there.
  QueuePairContext& context() { return *context_; }

  // Its asynchronous events go to `pipe`, too, and carry `user_handle`; until `remove_listener`. What it was
  // made with is such a listener.
  void add_listener(EventPipe& pipe, std::uint64_t user_handle);
  // Returns how many events the listener was told of. Harmless if it is none.
  std::uint32_t remove_listener(EventPipe& pipe, std::uint64_t user_handle);

 private:
  Device& device_;
  std::unique_ptr<QueuePairContext> context_;  // null if the device had no number left
  bool installed_ = false;
};

}  // namespace urnic::engine
