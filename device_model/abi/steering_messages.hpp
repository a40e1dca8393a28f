// Bodies of the control protocol (control.hpp) about steering rules, which give frames to raw packet queue
// pairs, and about RSS.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::abi {

inline constexpr std::uint32_t kMaxFlowSpecs = 10;  // as many as the kernel takes
inline constexpr std::uint32_t kFlowFilterBytes = 40;

// One header of ibv_flow_attr. `value` and `mask` hold the ibv_flow_*_filter of `type` (ibv_flow_spec_type),
// in network order, and zeros behind it.
struct FlowSpec {
  std::uint32_t type;
  std::uint32_t reserved;
  std::uint8_t value[kFlowFilterBytes];
  std::uint8_t mask[kFlowFilterBytes];
};
static_assert(sizeof(FlowSpec) == 88);

// Members as in ibv_flow_attr. Replies with HandleReply.
struct CreateFlowRequest {
  std::uint32_t qp;  // handle, also of an RSS QP
  std::uint32_t type;
  std::uint32_t flags;
  std::uint16_t priority;
  std::uint8_t port;
  std::uint8_t spec_count;
  std::uint32_t counters;  // handle of the counters for the frames that the rule takes; 0: none
  std::uint32_t reserved;
  FlowSpec specs[kMaxFlowSpecs];
};

// CreateQpRequest::type for ibv_create_wq: a raw packet QP that has no send queue and gets frames through an
// RSS QP only.
inline constexpr std::uint32_t kWorkQueue = 0x10000;

// The frames that rules with these counters have taken since the counters were made.
struct ReadCountersReply {
  std::uint64_t packets;
  std::uint64_t bytes;
};

// Set in the handles of RSS QPs, so that they differ from those of all other QPs.
inline constexpr std::uint32_t kRssQpHandle = 1u << 31;

inline constexpr std::uint32_t kMaxRssQueues = 128;
inline constexpr std::uint32_t kHashKeyBytes = 40;

// A QP without queues of its own: the lowest bits of a frame's Toeplitz hash say which of `queues` gets the
// frame. `queues` holds handles of raw packet QPs; `queue_count` is a power of two; a handle may be there
// several times. Replies with HandleReply.
struct CreateRssQpRequest {
  std::uint64_t hash_fields;  // ibv_rx_hash_fields
  std::uint32_t pd;
  std::uint32_t queue_count;
  std::uint8_t hash_key[kHashKeyBytes];
  std::uint32_t queues[kMaxRssQueues];
};

}  // namespace urnic::abi
