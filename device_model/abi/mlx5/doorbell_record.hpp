// Where a program publishes its indices, in memory of its own. A store to a page of the device says only that
// there is something to see here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/big_endian.hpp"

namespace urnic::abi::mlx5 {

// Of a QP. Both are counters behind what is posted, modulo 65536: of receive WQEs, and of 64-byte blocks of
// the send queue. An SRQ or a receive WQ has `receive` alone.
struct WorkDoorbells {
  SharedBig32 receive;
  SharedBig32 send;
};
static_assert(sizeof(WorkDoorbells) == 8 && offsetof(WorkDoorbells, send) == 4);

// Of a CQ.
struct CompletionDoorbells {
  SharedBig32 consumer;  // how many CQEs were read, modulo 2^24
  SharedBig32 request;   // for an event
};
static_assert(sizeof(CompletionDoorbells) == 8 && offsetof(CompletionDoorbells, request) == 4);

inline constexpr std::uint32_t kConsumerMask = 0xFFFFFF;

// A request has the consumer index in its lower 24 bits, and a number, modulo 4, that grows with each event
// which the program has read: the device answers one request of each number (as libmlx5 makes it:
// mlx5_arm_cq, mlx5_cq_event). libmlx5 begins with 0, which is a valid request.
inline constexpr std::uint32_t kRequestSolicited = 1u << 24;
inline constexpr std::uint32_t request_number(std::uint32_t request) { return request >> 28 & 3; }
// No program writes this: bits 26, 27, 30 and 31 of a request are 0. So it is the device's mark for "there is
// none".
inline constexpr std::uint32_t kNoRequest = 0xFFFFFFFF;

}  // namespace urnic::abi::mlx5
