// Work requests and completions as the transport sees them: already copied out of shared memory and decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "device_model/transport/frame_facts.hpp"
#include "device_model/transport/memory_access.hpp"
#include "wire/frame_checksums.hpp"
#include "wire/identifiers.hpp"

namespace urnic::transport {

// The values are those of ibv_wr_opcode.
enum class WorkOpcode : std::uint8_t {
  rdma_write = 0,
  rdma_write_with_immediate = 1,
  send = 2,
  send_with_immediate = 3,
  rdma_read = 4,
  atomic_compare_swap = 5,
  atomic_fetch_add = 6,
  local_invalidate = 7,
  bind_memory_window = 8,
  send_with_invalidate = 9,
  atomic_write = 15,
};

struct Sge {
  std::uint64_t address = 0;
  std::uint32_t length = 0;
  Lkey lkey;
};

// A send work request. The spans refer to the host's private copy of the WQE and stay valid until the request
// is retired.
struct SendRequest {
  std::uint32_t index = 0;  // free-running position in the send queue
  WorkOpcode opcode = WorkOpcode::send;
  bool malformed = false;  // the WQE made no sense: complete it with local_qp_operation_error
  bool fence = false;
  bool signaled = false;  // flag of the WQE, or sq_sig_all
  bool solicited = false;
  bool is_inline = false;  // has inline data
  wire::Immediate immediate;
  wire::Rkey invalidate;  // send_with_invalidate, local_invalidate
  std::uint64_t remote_address = 0;
  wire::Rkey rkey;
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  WindowBinding binding;             // bind_memory_window
  bool is_idle = false;              // bind_memory_window: does nothing, but completes in its turn
  std::uint32_t address_handle = 0;  // datagrams, with the next two
  wire::Qpn remote_qpn;
  std::uint32_t remote_qkey = 0;
  std::uint32_t remote_srq = 0;  // extended reliable connections: number of the peer's SRQ
  // The message is `inline_data`, and then what `sges` describe. urnic's own WQEs have one of the two.
  std::span<const Sge> sges;
  std::span<const std::byte> inline_data;
  std::uint64_t length = 0;        // of the message
  wire::FrameChecksums checksums;  // raw packets: those that the device makes
};

struct ReceiveRequest {
  std::uint32_t index = 0;  // how many the receive queue has given out before
  bool malformed = false;
  std::optional<PdId> pd;  // of its L_Keys, where that is not the QP's but the SRQ's (IBTA 10.2.9)
  std::span<const Sge> sges;
  std::uint64_t length = 0;
};

// The send queue of one QP. The host gives out each posted WQE once, in order.
class SendQueue {
 public:
  // Takes the next posted WQE; false if there is none. Of `request` only what the opcode uses is changed.
  virtual bool next(SendRequest& request) = 0;
  // True if `next` would give one.
  virtual bool pending() const = 0;
  // The request at `index` and all before it are done with; their spans may go once the host's batch has
  // ended well. In a batch with a failed access of the requester (host.hpp) it counts as not said.
  virtual void retire(std::uint32_t index) = 0;

 protected:
  ~SendQueue() = default;
};

// The receive queue of one QP, or the SRQ behind it.
class ReceiveQueue {
 public:
  virtual bool next(ReceiveRequest& request) = 0;
  // Receive WQEs that are posted and not yet taken, for AETH credits (IBTA 9.7.7.2).
  virtual std::uint32_t available() const = 0;
  virtual void retire(std::uint32_t index) = 0;

 protected:
  ~ReceiveQueue() = default;
};

// The SRQs of an XRC domain as one of its target QPs sees them (IBTA annex A14): which one a request is for
// it says itself, by number. Taken requests are counted over all of them.
class XrcReceiveQueues : public ReceiveQueue {
 public:
  // `next` takes from the SRQ of this number from now on. Its protection domain, in which the request is
  // executed; empty if the domain has no such SRQ.
  virtual std::optional<PdId> select(std::uint32_t number) = 0;

 protected:
  ~XrcReceiveQueues() = default;
};

// The values are those of ibv_wc_status.
enum class WorkStatus : std::uint8_t {
  success = 0,
  local_length_error = 1,
  local_qp_operation_error = 2,
  local_protection_error = 4,
  flushed = 5,
  memory_window_bind_error = 6,
  bad_response_error = 7,
  local_access_error = 8,
  remote_invalid_request_error = 9,
  remote_access_error = 10,
  remote_operation_error = 11,
  retry_exceeded = 12,
  rnr_retry_exceeded = 13,
  tag_matching_error = 22,
  rendezvous_incomplete = 23,
};

// The values are those of ibv_wc_opcode.
enum class CompletionOpcode : std::uint8_t {
  send = 0,
  rdma_write = 1,
  rdma_read = 2,
  compare_swap = 3,
  fetch_add = 4,
  bind_memory_window = 5,
  local_invalidate = 6,
  atomic_write = 9,
  receive = 128,
  receive_rdma_with_immediate = 129,
  // The next are of tag matching, which the host does. The transport itself only announces with the last but
  // one that a message was matched which is not complete.
  tag_add = 130,
  tag_remove = 131,
  tag_sync = 132,
  tagged_receive = 133,
  receive_without_tag = 134,
};

// The opcode of the completion of a send request.
constexpr CompletionOpcode completion_opcode(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::rdma_write:
    case WorkOpcode::rdma_write_with_immediate:
      return CompletionOpcode::rdma_write;
    case WorkOpcode::rdma_read:
      return CompletionOpcode::rdma_read;
    case WorkOpcode::atomic_write:
      return CompletionOpcode::atomic_write;
    case WorkOpcode::atomic_compare_swap:
      return CompletionOpcode::compare_swap;
    case WorkOpcode::atomic_fetch_add:
      return CompletionOpcode::fetch_add;
    case WorkOpcode::local_invalidate:
      return CompletionOpcode::local_invalidate;
    case WorkOpcode::bind_memory_window:
      return CompletionOpcode::bind_memory_window;
    case WorkOpcode::send:
    case WorkOpcode::send_with_immediate:
    case WorkOpcode::send_with_invalidate:
      break;
  }
  return CompletionOpcode::send;
}

// What a datagram's completion says of the way that it came in an InfiniBand subnet; all 0 on Ethernet.
struct LocalRoute {
  std::uint16_t source_lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t path_bits = 0;  // of the LID that it was sent to
};

struct Completion {
  wire::Qpn qpn;
  std::uint32_t wqe_index = 0;
  bool receive = false;
  CompletionOpcode opcode = CompletionOpcode::send;
  WorkStatus status = WorkStatus::success;
  std::uint32_t byte_length = 0;
  bool with_immediate = false;
  bool with_invalidate = false;
  bool with_grh = false;   // the message has a global route header in front, which `byte_length` counts
  bool over_ipv6 = false;  // with_grh: which is an IPv6 header; else an IPv4 header is in its second half
  wire::Immediate immediate;
  wire::Rkey invalidated;
  std::uint32_t vendor_error = 0;
  wire::Qpn source;
  bool solicited =
      false;         // the incoming message asked for an event, or the completion is an error (IBTA 11.4.2.2)
  FrameFacts facts;  // of a received raw packet
  LocalRoute local_route;  // of a received datagram
  // The received message, if it travels in the completion (Host::completion_room). Valid as a packet's
  // payload.
  std::span<const std::byte> data;
};

}  // namespace urnic::transport
