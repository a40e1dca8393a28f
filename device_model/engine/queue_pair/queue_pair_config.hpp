// What a queue pair is made of. Everything that it refers to outlives the queue pair.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/queue_pair_config.hpp"

namespace urnic::engine {

class CompletionQueue;
class EventPipe;
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

}  // namespace urnic::engine
