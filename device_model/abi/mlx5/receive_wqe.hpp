// A receive WQE: data segments up to one with kEndOfList, or as many as the queue's stride has room for. In a
// shared receive queue a head precedes them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/big_endian.hpp"

namespace urnic::abi::mlx5 {

// Of send WQEs, too.
struct DataSegment {
  Big32 length;
  Big32 lkey;
  Big64 address;
};
static_assert(sizeof(DataSegment) == 16 && offsetof(DataSegment, address) == 8);

// The L_Key of the segment behind the last, whose length is 0: a region may have this L_Key, too.
inline constexpr std::uint32_t kEndOfList = 0x100;

// The slots of an SRQ are a list: the program takes them from its front in the order of posting, and the
// device does so after it (as libmlx5's mlx5_post_srq_recv keeps it). The first is slot 0.
struct SharedReceiveHead {
  std::uint8_t reserved0[2];
  Big16 next;
  std::uint8_t signature;
  std::uint8_t reserved1[11];
};
static_assert(sizeof(SharedReceiveHead) == 16 && offsetof(SharedReceiveHead, next) == 2);

}  // namespace urnic::abi::mlx5
