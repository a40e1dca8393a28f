// A queue pair that waits for memory (memory/waiting_memory.hpp): its actions of one round, which wait too,
// and the inputs that arrive meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/batch/action_list.hpp"
#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/memory/waiting_memory.hpp"
#include "device_model/transport/host.hpp"
#include "wire/frame.hpp"

namespace urnic::engine {

// An input that arrives while its queue pair waits: a whole frame with its origin; or a datagram, which the
// device may have given to other QPs as well.
struct HeldInput {
  std::optional<link::PacketOrigin> origin;
  wire::TransportHeaders headers;
  bool congestion_experienced = false;
  transport::SelectiveAcks selective_acks = transport::SelectiveAcks::no;
  std::size_t grh_bytes = 0;
  transport::LocalRoute local_route;
  std::vector<std::byte> bytes;  // the frame; or the GRH, then the payload
};

class MemoryStall {
 public:
  // The most inputs that a queue pair holds.
  static constexpr std::size_t kHeldInputs = 256;
  static constexpr std::size_t kHeldBytes = 128 * 1024;

  // Moves all actions of `queue_pair` out of `list`. They refer neither to the list nor to its arena
  // afterwards.
  MemoryStall(QueuePairContext& queue_pair, ActionList& list);

  QueuePairContext& queue_pair() const { return queue_pair_; }

  // Continues the memory accesses as far as possible without waiting. True: all are done, or one has failed.
  bool advance();
  // Ends the wait: all accesses that are not done fail.
  void fail();
  // Whether an access that is not done touches these bytes of `memory`.
  bool touches(const memory::ApplicationMemory& memory, std::uint64_t address, std::uint64_t length) const;

  // The moved actions, for the data path to finish. Failed streams have their first failure set.
  ActionList& list() { return list_; }
  const std::vector<ActionStream*>& failed() const { return failed_; }

  // Drops the input as lost if too much is held already.
  [[gnu::cold]] void hold(const wire::Frame& frame, const link::PacketOrigin& origin);
  [[gnu::cold]] void hold(const transport::InboundPacket& datagram);
  // The oldest, or null.
  const HeldInput* next_input() const { return held_.empty() ? nullptr : &held_.front(); }
  void drop_input() { held_.pop_front(); }

  // The most bytes that it can hold.
  std::size_t bytes() const { return bytes_.size() + kHeldBytes; }

 private:
  void take_accesses(ActionList& from);
  void take_results(ActionList& from);
  void move_bytes();
  std::span<std::byte> move(std::span<const std::byte> bytes);
  std::uint32_t accesses_before(std::uint32_t index) const;
  memory::Transfer transfer_of(const MemoryAction& action) const;
  bool discards(std::uint32_t index) const { return list_.memory[index].stream->discards(index); }
  void begin_job(memory::WaitingMemory& memory);
  void end_job();
  void do_now(std::uint32_t index);
  void operate_now(std::uint32_t index);
  void fail(std::uint32_t index);
  HeldInput* place_for_input(std::size_t size);

  QueuePairContext& queue_pair_;
  ActionList list_;
  std::vector<std::uint32_t> places_;  // of the accesses, in the list that they were moved from
  std::deque<AddressHandle> addresses_;
  std::vector<std::byte> bytes_;
  std::size_t bytes_used_ = 0;
  std::vector<ActionStream*> failed_;

  std::uint32_t next_ = 0;                  // access that is not done
  memory::WaitingMemory* job_ = nullptr;    // runs a job of this stall; else null
  std::vector<std::uint32_t> job_actions_;  // the access of each piece
  std::vector<memory::Transfer> job_pieces_;
  std::uint32_t job_end_ = 0;  // the first access after the job

  std::deque<HeldInput> held_;
  std::size_t held_bytes_ = 0;
};

}  // namespace urnic::engine
