// The actions of an engine's QPs in one round, by kind, each kind in the order of the requests. The lists
// keep their memory between rounds: no allocation per packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/engine/batch/action_stream.hpp"
#include "device_model/engine/batch/staging_arena.hpp"
#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/memory/process_memory.hpp"
#include "device_model/transport/host.hpp"

namespace urnic::engine {

enum class AccessKind : std::uint8_t {
  read,
  write,
  atomic,
  none  // removed from its list (memory_stall.hpp)
};

// An access to application memory. `local` is the destination of a read and the source of a write.
struct MemoryAction {
  AccessKind kind = AccessKind::read;
  bool message_end = false;
  std::uint32_t length = 0;
  std::uint32_t operands = 0;     // atomic: its place in ActionList::atomics
  std::uint32_t next_joined = 0;  // the action that continues the same transfer
  memory::ApplicationMemory* memory = nullptr;
  std::uint64_t address = 0;
  std::byte* local = nullptr;
  ActionStream* stream = nullptr;
  transport::AccessTag tag;
};

struct AtomicOperands {
  transport::AtomicKind kind = transport::AtomicKind::compare_swap;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  std::uint64_t* original = nullptr;
};

struct CompletionAction {
  transport::Completion completion;
  ActionStream* stream = nullptr;
  std::uint32_t accesses = 0;  // memory actions in the list when it was emitted
};

struct EventAction {
  QueuePairContext* queue_pair = nullptr;
  transport::AsyncEvent event{};
};

struct PacketAction {
  PacketAction(const wire::TransportHeaders& packet_headers, ActionStream* packet_stream,
               std::uint32_t accesses_before)
      : headers(packet_headers), stream(packet_stream), accesses(accesses_before) {}

  wire::TransportHeaders headers;
  ActionStream* stream;
  std::uint32_t accesses;  // memory actions in its list before it
  std::uint32_t length = 0;
  const std::byte* payload = nullptr;
  const std::uint64_t* atomic_original = nullptr;  // becomes headers.atomic_original, if not null
  const AddressHandle* address = nullptr;          // datagrams: the destination
  wire::FrameChecksums checksums = {};             // raw packets: still to be made
};

struct ActionList {
  std::uint64_t number = 0;  // unique for each filling
  std::vector<MemoryAction> memory;
  std::vector<AtomicOperands> atomics;
  std::vector<CompletionAction> completions;
  std::vector<CompletionAction> sent;  // of sends that complete once their packets have left
  std::vector<EventAction> events;
  std::vector<PacketAction> packets;
  StagingArena* arena = nullptr;  // belongs to StagingArenas

  // Reserves for a round: filling the list allocates nothing.
  void reserve() {
    memory.reserve(4096);
    atomics.reserve(512);
    completions.reserve(4096);
    sent.reserve(2048);
    events.reserve(64);
    packets.reserve(2048);
  }
  bool empty() const {
    return memory.empty() && completions.empty() && sent.empty() && events.empty() && packets.empty();
  }
  // Clears all but the arena, to which the next list's writes may still refer.
  void clear() {
    memory.clear();
    atomics.clear();
    completions.clear();
    sent.clear();
    events.clear();
    packets.clear();
  }
};

}  // namespace urnic::engine
