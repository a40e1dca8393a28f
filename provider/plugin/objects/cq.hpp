// The provider's completion queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/tag_matching_ring.hpp"
#include "provider/plugin/connection/verbs_context.hpp"
#include "provider/plugin/queues/completion_ring.hpp"
#include "provider/private_abi.hpp"

namespace urnic::provider {

// One completion, after its wr_id was looked up and its slot freed.
struct Completion {
  std::uint64_t wr_id;
  std::uint64_t timestamp;  // nanoseconds of CLOCK_MONOTONIC; 0 where the CQ has none
  std::uint32_t qpn;
  std::uint32_t byte_length;
  std::uint32_t immediate_or_rkey;
  std::uint32_t error_or_route;  // as abi::Cqe has it
  std::uint32_t source_qpn;
  std::uint8_t status;  // value of ibv_wc_status
  std::uint8_t opcode;  // value of ibv_wc_opcode
  std::uint8_t flags;   // abi::CqeFlag values
  // Only for tag matching (is_tag_completion).
  std::uint8_t tag_flags;  // abi::TagFlag values
  std::uint32_t tag_user_data;
  std::uint64_t tag;
};

inline bool is_tag_completion(const Completion& completion) {
  return completion.opcode >= abi::kFirstTagCompletion && completion.opcode <= abi::kLastTagCompletion;
}

struct Cq {
  private_abi::Cq verbs;  // first: the library hands out its address
  Context* context;

  // Guards the ring and everything else that polling changes.
  Mutex lock;
  CompletionRing ring;

  ChannelWriter* channel;                   // null: no completion events
  std::atomic<std::uint32_t> arm_requests;  // ibv_req_notify_cq calls; numbers the arm words

  // Events that the program has read.
  std::atomic<std::uint32_t> completion_events_read;
  std::atomic<std::uint32_t> async_events_read;

  // For the extended interface: the completion that the readers read.
  Completion current;
  ibv_pd* parent_domain;  // may be null

  Cq* next;
  Cq* previous;
};

inline Cq& cq_of(ibv_cq* cq) { return *reinterpret_cast<Cq*>(cq); }
inline Cq& cq_of(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }

// Takes the next completion from the ring, or makes the next flush error if the device is dead. False: there
// is none. Under the CQ's lock. The caller publishes the ring's consumer index.
bool next_completion(Cq& cq, Completion& completion);

// Whether the device is dead and work requests that complete on `cq` are still to be flushed.
bool has_flush_errors(Cq& cq);

// 0 without an error.
std::uint32_t vendor_error_of(const Completion& completion);
// Of a datagram that came by InfiniBand; 0: another completion (abi::pack_local_route).
std::uint32_t local_route_of(const Completion& completion);
// The completion's ibv_wc_flags.
unsigned int wc_flags_of(const Completion& completion);
// The value of ibv_wc::sl. For a datagram, RoCE devices put the packet's type there instead of a service
// level: bit 3: UDP; bits 0 to 2: 1 for IPv6, 2 for IPv4. UCX learns from it which header the GRH holds.
std::uint8_t service_level_of(const Completion& completion);

// Lets the thread yield or sleep as EmptyPolls says, and looks for the device's death now and then. Call
// after an empty poll, without the CQ's lock. True if the thread has rested. Look again then: a rest may be
// long, and a program that finds its queue empty goes on to its events. It would learn there that a peer has
// disconnected, and give up the connection with the data that came before.
bool rest_after_empty_poll(Context& context);

// For create_cq and create_cq_ex. `flags` as in abi::CreateCqRequest. Null with errno set on failure;
// destroy_cq frees the result.
Cq* create_completion_queue(ibv_context* context, std::uint32_t entries, ibv_comp_channel* channel,
                            std::uint32_t completion_vector, std::uint32_t flags);

}  // namespace urnic::provider
