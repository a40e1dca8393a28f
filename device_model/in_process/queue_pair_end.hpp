// The program's end of a queue pair: its rings in plain memory, written as the provider writes them, and its
// completion queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/in_process/completion_queue_end.hpp"
#include "device_model/in_process/context_end.hpp"

namespace urnic::in_process {

// The head of a send WQE with nothing but these.
inline abi::SendWqe wqe(abi::SendOpcode opcode, std::uint8_t flags = abi::send_signaled) {
  abi::SendWqe head{};
  head.opcode = static_cast<std::uint8_t>(opcode);
  head.flags = flags;
  return head;
}

struct QueuePairLayout {
  std::uint32_t send_slots = 64;
  std::uint32_t send_slot_size = 256;
  std::uint32_t receive_slots = 64;
  std::uint32_t receive_slot_size = 128;
  bool signal_all = false;
  bool blocks_own_multicast = false;
  bool takes_check_sequences = false;
  std::uint32_t ordinal = 1;
  std::uint32_t context = 0;
  transport::QpService service = transport::QpService::rc;
  engine::SharedReceiveQueue* srq = nullptr;
  engine::TagMatching* tags = nullptr;      // of that SRQ
  engine::XrcDomain* xrc_domain = nullptr;  // for an XRC target
  transport::RecoverySettings recovery{.mode = transport::RecoveryMode::gbn};

  bool has_own_cqs() const { return tags == nullptr && xrc_domain == nullptr; }
};

class QueuePairEnd {
 public:
  // `context` and what `layout` names outlive it. `doorbell` is a free number of the context.
  QueuePairEnd(ContextEnd& context, std::uint32_t doorbell, const QueuePairLayout& layout);
  QueuePairEnd(const QueuePairEnd&) = delete;
  QueuePairEnd& operator=(const QueuePairEnd&) = delete;

  // On the engine's thread: the device takes packets and doorbells for it from here on, until `remove`, which
  // precedes its end.
  void install();
  void remove();

  // Writes a WQE at the producer index; `behind` are the bytes after its head.
  void write_send(const abi::SendWqe& head, std::span<const std::byte> behind);
  void write_receive(std::span<const abi::ScatterGather> sges);
  // Publishes what was written and rings.
  void ring();
  void post_send(const abi::SendWqe& head, std::span<const abi::ScatterGather> sges);
  void post_inline(abi::SendWqe head, std::span<const std::byte> data);
  void post_receive(std::span<const abi::ScatterGather> sges);
  // Polls the receive CQ, and puts data that travelled in the CQE where the WQE says.
  std::optional<PolledCompletion> poll_receive();

  engine::QueuePairContext& device_end() { return *hosted_; }
  wire::Qpn qpn() const { return hosted_->qpn(); }

  const QueuePairLayout layout;
  std::vector<std::byte> send_slots;
  std::vector<std::byte> receive_slots;
  abi::QueuePairIndices indices{};
  std::uint32_t send_producer = 0;
  std::uint32_t receive_producer = 0;
  CompletionQueueEnd send_cq;
  CompletionQueueEnd receive_cq;

 private:
  ContextEnd& context_;
  std::uint32_t doorbell_;
  std::unique_ptr<engine::QueuePairContext> hosted_;
};

}  // namespace urnic::in_process
