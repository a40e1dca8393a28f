// A completion queue as the provider sees it.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/tag_matching.hpp"
#include "provider/plugin/connection/context.hpp"
#include "provider/plugin/queues/completion_ring.hpp"
#include "provider/rdmav34.hpp"

namespace urnic::provider {

// One completion, with the wr_id found and the slot given back.
struct Completion {
  std::uint64_t wr_id;
  std::uint64_t timestamp;  // nanoseconds of CLOCK_MONOTONIC; 0 where the CQ has none
  std::uint32_t qpn;
  std::uint32_t byte_length;
  std::uint32_t immediate_or_rkey;
  std::uint32_t vendor_error;
  std::uint32_t source_qpn;
  std::uint8_t status;  // value of ibv_wc_status
  std::uint8_t opcode;  // value of ibv_wc_opcode
  std::uint8_t flags;   // abi::CqeFlag values
  // Only of tag matching (is_tag_completion).
  std::uint8_t tag_flags;  // abi::TagFlag values
  std::uint32_t tag_user_data;
  std::uint64_t tag;
};

inline bool is_tag_completion(const Completion& completion) {
  return completion.opcode >= abi::kFirstTagCompletion && completion.opcode <= abi::kLastTagCompletion;
}

struct Cq {
  rdmav34::Cq verbs;  // first: the library hands out its address
  Context* context;

  // Guards the ring and all that polling changes.
  Mutex lock;
  CompletionRing ring;

  ChannelWriter* channel;  // null: no completion events
  std::atomic<std::uint32_t> arm_requests;

  // Events that the program has read.
  std::atomic<std::uint32_t> completion_events_read;
  std::atomic<std::uint32_t> async_events_read;

  // For the extended interface: where the iterator stands.
  Completion current;
  ibv_pd* parent_domain;  // may be null

  Cq* next;
  Cq* previous;
};

inline Cq& cq_of(ibv_cq* cq) { return *reinterpret_cast<Cq*>(cq); }
inline Cq& cq_of(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }

// Takes the next completion from the ring, or, when the device is dead, makes the next flush error. Under the
// CQ's lock. False: there is none. The ring's consumer index is not yet published.
bool next_completion(Cq& cq, Completion& completion);

// Whether the device is dead and work requests that complete here are still to be flushed.
bool has_flush_errors(Cq& cq);

// The completion's ibv_wc_flags.
unsigned int wc_flags_of(const Completion& completion);
// What RoCE devices put there for a datagram, where InfiniBand has a service level: how it came (bit 3: in
// UDP; bits 0 to 2: over IPv6 or IPv4). UCX takes from it what the global route header is.
std::uint8_t service_level_of(const Completion& completion);

// To be called, without the lock, after a poll that found nothing.
void rest_after_empty_poll(Context& context);

// For create_cq and create_cq_ex. Null with errno set.
// `flags` as in abi::CreateCqRequest.
Cq* create_completion_queue(ibv_context* context, std::uint32_t entries, ibv_comp_channel* channel,
                            std::uint32_t completion_vector, std::uint32_t flags);

}  // namespace urnic::provider
