// What the transport asks of its surroundings: an ordered stream of actions.
//
// A QP emits actions while it handles an input (a packet, a doorbell, a timer, a pump). The host carries them
// out in order, but may batch: it reads and writes memory when the batch is flushed, and sends packets,
// completions and events only after the memory accesses before them. So an acknowledgement never overtakes
// its data.
//
// A QP has two streams, its requester's and its responder's. When a memory access of a stream fails, the host
// discards all later actions of that stream in the batch (completions and packets too) and then calls
// QueuePair::memory_failed with the access's tag, before it gives the QP any other input. The stream starts
// afresh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/transport/datagram_address.hpp"
#include "device_model/transport/frame_facts.hpp"
#include "device_model/transport/memory_access.hpp"
#include "device_model/transport/selective_acks.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/frame_checksums.hpp"
#include "wire/headers.hpp"

namespace urnic::transport {

enum class Stream : std::uint8_t { requester, responder };

// Names the cause of a memory access, for memory_failed.
struct AccessTag {
  Stream stream = Stream::requester;
  wire::Psn psn;  // of the packet that the access belongs to
  // Requester: the send WQE. Responder: the first receive WQE that was not complete when the access was made.
  std::uint32_t wqe_index = 0;
  std::uint32_t action = 0;  // which action of the half this is, by its own count
  bool places_send = false;  // responder: the access places a SEND's data where that receive WQE says
};

// A packet to send. Its payload is `bytes`, and then the concatenation of `gather`. `gather` is copied by the
// host during the call; `bytes` stays valid until the batch is flushed.
struct OutboundPacket {
  wire::TransportHeaders headers;
  std::span<const std::byte> bytes;
  std::span<const MemoryRange> gather;
  AccessTag tag;
  // If set, the value of an atomic acknowledge: the host puts it in `headers.atomic_original` when the
  // packet's turn in the stream comes, which is behind the atomic that stores it. Outlives the batch.
  const std::uint64_t* atomic_original = nullptr;
  const DatagramAddress* address = nullptr;  // datagrams: where to; others go to the QP's peer
  wire::FrameChecksums checksums = {};       // raw packets: those that the host makes
};

// A packet that arrived, parsed and checked by the port. The headers are valid during the call that it is
// handed to, the payload until the batch is flushed.
struct InboundPacket {
  const wire::TransportHeaders& headers;
  std::span<const std::byte> payload;
  bool congestion_experienced = false;  // ECN bits 11
  SelectiveAcks selective_acks = SelectiveAcks::no;
  // Datagrams: the global route header to place in front of the payload; valid as long as the payload.
  std::span<const std::byte> grh = {};
  LocalRoute local_route = {};    // datagrams of InfiniBand
  std::uint16_t source_port = 0;  // UDP; means something in packets from outside of this process only
  FrameFacts facts = {};          // of a raw packet

  bool is_from_outside() const { return selective_acks == SelectiveAcks::outside; }
};

enum class AtomicKind : std::uint8_t { compare_swap, fetch_add };

// Reads the 8 bytes at `target`, writes what the operation makes of them, stores the old value (host order)
// in
// `*original`, which must outlive the batch, and then sends `reply` with it if `send_reply`. No other atomic
// of this device comes between (IBTA 9.4.5, ibv_atomic_cap ATOMIC_HCA).
struct AtomicAction {
  AtomicKind kind = AtomicKind::compare_swap;
  MemoryRange target;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  std::uint64_t* original = nullptr;
  bool send_reply = true;
  wire::TransportHeaders reply;
  AccessTag tag;
};

// The values are those of ibv_event_type.
enum class AsyncEvent : std::uint8_t {
  qp_fatal = 1,
  qp_request_error = 2,
  qp_access_error = 3,
  communication_established = 4,
  send_queue_drained = 5,
  last_wqe_reached = 16,
};

class Host {
 public:
  virtual void send(const OutboundPacket& packet) = 0;
  // How long `packet` is as a frame, from the Ethernet header to the ICRC. Called for paced packets only.
  virtual std::size_t frame_bytes(const OutboundPacket& packet) const = 0;
  // Writes `data` to `target`. Writes of one stream to adjacent addresses may be joined. `message_end`: these
  // are the last bytes of a message, written after all others, whole 8-byte words untorn.
  virtual void write(const MemoryRange& target, std::span<const std::byte> data, bool message_end,
                     AccessTag tag) = 0;
  virtual void atomic(const AtomicAction& action) = 0;
  // Whether the QP's peer may be notified of congestion now, as one of all peers that the device knows by
  // their address: at most once in `interval`. True: it counts as notified.
  virtual bool may_notify_peer(Nanoseconds interval, Time now) = 0;
  // How many bytes of a received message a completion may carry instead of a write; 0: none. The program that
  // polls the completion copies them to the addresses in its receive WQE.
  virtual std::uint32_t completion_room() const { return 0; }
  // Goes to the send CQ or the receive CQ, as `completion.receive` says, in the order of `stream`.
  virtual void complete(const Completion& completion, Stream stream) = 0;
  virtual void event(AsyncEvent event) = 0;

 protected:
  ~Host() = default;
};

}  // namespace urnic::transport
