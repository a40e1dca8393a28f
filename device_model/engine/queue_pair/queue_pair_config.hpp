// What a queue pair is made from. All objects that it refers to outlive the queue pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/congestion_settings.hpp"
#include "device_model/transport/queue_pair_config.hpp"

namespace urnic::engine {

class CompletionQueue;
class EventPipe;
class ProgramQueues;
class SharedReceiveQueue;
class TagMatching;
class XrcDomain;
struct DeviceResources;

struct QueuePairConfig {
  const DeviceResources* device = nullptr;
  transport::QpService service = transport::QpService::rc;
  transport::PdId pd;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  EventPipe* async_events = nullptr;
  std::uint64_t user_handle = 0;    // what asynchronous events carry
  std::uint32_t event_source = 0;   // the number of the creator's EventSource
  XrcDomain* xrc_domain = nullptr;  // of an XRC target, which has no CQs or receives of its own
  std::uint32_t context = 0;        // the number of the creating context
  std::uint32_t ordinal = 1;        // 1 is the first QP that the program created on the device
  bool signal_all = false;
  bool blocks_own_multicast = false;   // abi::qp_block_self_multicast
  bool takes_check_sequences = false;  // abi::qp_scatter_fcs
  std::byte* send_ring = nullptr;      // may be null with 0 slots
  std::uint32_t send_slots = 0;        // a power of two
  std::uint32_t send_slot_size = 0;
  std::byte* receive_ring = nullptr;
  std::uint32_t receive_slots = 0;
  std::uint32_t receive_slot_size = 0;
  // The queues of another face, instead of those two; null: urnic's own. Then `send_slots` and
  // `receive_slots` still say how many WQEs each holds at most.
  std::shared_ptr<ProgramQueues> queues{};
  SharedReceiveQueue* shared_receive_queue = nullptr;  // null: the QP has its own receive ring
  // The SRQ's tag matching, if it has any: then the QP is RC and has no send ring, and its CQs are null,
  // because all completions go to the SRQ's CQ.
  TagMatching* tag_matching = nullptr;
  abi::QueuePairIndices* indices = nullptr;
  // Whether several processes use the context, so that the polling process may not be the one that owns the
  // memory. Read and changed on the engine thread only. Null: several may.
  const bool* several_processes = nullptr;
  std::uint32_t max_message_size = transport::QpConfig{}.max_message_size;
  std::uint32_t window_packets = transport::QpConfig{}.window_packets;
  std::uint32_t congestion_window_packets = transport::QpConfig{}.congestion_window_packets;
  transport::RecoverySettings recovery{.mode = transport::RecoveryMode::gbn};
  transport::CongestionSettings congestion{};
};

}  // namespace urnic::engine
