// Exchanges whole pages of this process that hold queues: private memory for a part of a file in memory, and
// back. Addresses and contents stay.
//
// Not as page_exchange.hpp does it, which may refuse: a queue that the device does not have is none. What
// other threads write meanwhile may be lost, if they cannot be made to wait (frozen_range.hpp). libmlx5 has
// nothing but queues and doorbell records in such pages, and the device counts with that
// (device_model/control/mlx5/queue_memory.hpp).
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// 0 or an errno, and then nothing has changed: EFAULT: part of the range is not there; EOPNOTSUPP: it is
// shared memory already, which other processes may use; or an errno of mapping. `may_be_shared`: some of it
// was made shared by share_part.
int put_queue_pages(const abi::PageRange& range, int file, std::uint64_t offset, bool may_be_shared);

// The range gets private memory. Does nothing if there is no memory: then it stays the file's.
void take_queue_pages(const abi::PageRange& range);

}  // namespace urnic::provider
