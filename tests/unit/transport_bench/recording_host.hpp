// A Host that batches as host.hpp says: actions are kept until `flush`, which carries them out in order.
// What comes out of a flush (packets with their payload, completions, events) is recorded for the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "device_model/transport/host.hpp"

namespace urnic::transport::bench {

struct SentPacket {
  wire::TransportHeaders headers;
  std::vector<std::byte> payload;
};

struct Written {
  std::uint64_t address = 0;
  std::vector<std::byte> data;
  bool message_end = false;
};

class RecordingHost final : public Host {
 public:
  // Recorded, oldest first. Tests take from the front.
  std::deque<SentPacket> sent;
  std::deque<Completion> completions;
  std::deque<AsyncEvent> events;
  std::vector<Written> writes;
  std::vector<std::vector<std::byte>> data_in_completions;  // of each completion

  // What `may_notify_peer` answers, and how often it was asked.
  bool peer_was_notified = false;
  unsigned questions_for_peer = 0;

  // What `completion_room` answers.
  std::uint32_t room = 0;

  // Carries out what is kept. Returns the tags of the accesses that failed, at most one per stream; the
  // caller hands them to memory_failed. Later actions of a failed access's stream are discarded.
  std::vector<AccessTag> flush();
  bool empty() const { return actions_.empty(); }

  void send(const OutboundPacket& packet) override;
  // The payload alone, for round figures in tests.
  std::size_t frame_bytes(const OutboundPacket& packet) const override;
  bool may_notify_peer(Nanoseconds, Time) override {
    ++questions_for_peer;
    return !peer_was_notified;
  }
  void write(const MemoryRange& target, std::span<const std::byte> data, bool message_end,
             AccessTag tag) override;
  void atomic(const AtomicAction& action) override;
  std::uint32_t completion_room() const override { return room; }
  void complete(const Completion& completion, Stream stream) override;
  void event(AsyncEvent event) override;

 private:
  struct SendAction {
    wire::TransportHeaders headers;
    std::span<const std::byte> bytes;  // read at the flush, as the contract allows
    std::vector<MemoryRange> gather;
    AccessTag tag;
    const std::uint64_t* atomic_original;
  };
  struct WriteAction {
    MemoryRange target;
    std::span<const std::byte> data;
    bool message_end;
    AccessTag tag;
  };
  struct CompleteAction {
    Completion completion;
    Stream stream;
  };
  using Action = std::variant<SendAction, WriteAction, AtomicAction, CompleteAction, AsyncEvent>;

  // Empty on success, else the tag of the access that failed.
  std::optional<AccessTag> carry_out(const SendAction& action);
  std::optional<AccessTag> carry_out(const WriteAction& action);
  std::optional<AccessTag> carry_out(const AtomicAction& action);
  std::optional<AccessTag> carry_out(const CompleteAction& action);
  std::optional<AccessTag> carry_out(AsyncEvent event);

  std::vector<Action> actions_;
};

}  // namespace urnic::transport::bench
