// Bodies of the control protocol (control.hpp) about steering rules: which frames are for which raw packet
// queue pairs.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::abi {

inline constexpr std::uint32_t kMaxFlowSpecs = 10;  // as many as the kernel takes
inline constexpr std::uint32_t kFlowFilterBytes = 40;

// One header of ibv_flow_attr. `value` and `mask` hold the ibv_flow_*_filter of the type
// (ibv_flow_spec_type), which is in network order, and zero behind it.
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
  std::uint32_t counters;  // handle of what counts the frames that the rule takes; 0: nothing
  std::uint32_t reserved;
  FlowSpec specs[kMaxFlowSpecs];
};

// CreateQpRequest::type of what ibv_create_wq makes: a raw packet QP that has no send queue, and gets frames
// by way of an RSS QP only.
inline constexpr std::uint32_t kWorkQueue = 0x10000;

// Of the frames that rules have taken, since it was made.
struct ReadCountersReply {
  std::uint64_t packets;
  std::uint64_t bytes;
};

// In the handles of RSS QPs, so that they are no other QP's.
inline constexpr std::uint32_t kRssQpHandle = 1u << 31;

inline constexpr std::uint32_t kMaxSpreadQueues = 128;
inline constexpr std::uint32_t kHashKeyBytes = 40;

// A QP without queues: which of `queues` gets a frame, the lowest bits of its Toeplitz hash say. Those are
// handles of raw packet QPs, a power of two of them; one may be there several times. Replies with
// HandleReply.
struct CreateRssQpRequest {
  std::uint64_t hash_fields;  // ibv_rx_hash_fields
  std::uint32_t pd;
  std::uint32_t queue_count;
  std::uint8_t hash_key[kHashKeyBytes];
  std::uint32_t queues[kMaxSpreadQueues];
};

}  // namespace urnic::abi
