// The source of a queue pair's receive WQEs, and the destination of its receive completions. Four kinds: the
// QP's own receive queue, a shared receive queue, those of an XRC domain, a shared receive queue with tag
// matching.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class SharedReceiveQueue;

// The result of reporting a completion.
enum class Reported : std::uint8_t {
  yes,
  lost,       // the CQ is full: the QP goes to the error state
  peer_lost,  // the peer could not be told that its rendezvous is finished
};

// Engine thread only, after construction.
class Receives {
 public:
  virtual ~Receives() = default;

  // Fills in the receive part of `config`.
  virtual void describe(transport::QpConfig& config) = 0;
  // Gives back WQEs that are not completed, and counts from 0 again (QP to reset).
  virtual void reset() = 0;
  // The program has written an impossible index: the QP goes to the error state.
  virtual bool broken() const { return false; }
  // Bytes of a message that may travel in its completion (Host::completion_room).
  virtual std::uint32_t inline_room() const = 0;
  // The CQ to which receive completions go unchanged; null: each goes through `report`.
  virtual CompletionQueue* completion_queue() const { return nullptr; }
  // Reports a receive completion whose turn has come. `in_error`: the QP is in the error state.
  virtual Reported report(const transport::Completion& completion, bool in_error) = 0;
  // Reports a send completion of a QP without a send CQ.
  virtual Reported report_send(const transport::Completion& /*completion*/, bool /*in_error*/) {
    return Reported::yes;
  }
  // The SRQ is being destroyed. True if a WQE of it was taken and is not completed.
  virtual bool forget(const SharedReceiveQueue& /*queue*/) { return false; }
};

// The inline room of a CQ. `several_processes`: several processes use the context, so the polling process may
// not own the receive memory: then data does not travel in the CQE. Null: several may.
inline std::uint32_t inline_room_of(const CompletionQueue* queue, const bool* several_processes) {
  const bool one_process = several_processes != nullptr && !*several_processes;
  return one_process && queue != nullptr && queue->has_room_for_data() ? abi::kCqeInlineBytes : 0;
}

}  // namespace urnic::engine
