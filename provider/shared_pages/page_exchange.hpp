// Exchanges a range of whole pages of this process: private memory for a file in memory, which the device
// process maps, too; and back. Addresses, contents and rights stay.
#pragma once

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// `file` is as large as the range, and empty. On any outcome but Sharing::shared nothing has changed.
//
// No write of another thread is lost: such threads wait for the exchange, or there is none. Direct I/O that
// is under way into the range, by the kernel and not by a thread's own call, would be lost; memory of a
// process that has such I/O is not exchanged (memory_kind.hpp).
abi::Sharing share_pages(const abi::PageRange& range, int file);

// Those pages of the range that are still the file's become private memory, and the file loses its contents.
// The device process does not use it any more. Other threads may use the range meanwhile. Does nothing with
// pages that the program has unmapped, or replaced by others.
void make_pages_private(const abi::PageRange& range, int file);

}  // namespace urnic::provider
