// The ranges of this process's memory that are shared now, as private memory would be to the program: a
// forked child gets its own copy of them, with the contents at the time of the fork.
//
// Children that fork(2) of the C library makes. One that a bare clone(2) makes, without the handlers of
// pthread_atfork(3), shares the ranges with its parent.
#pragma once

#include "device_model/abi/control.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/lock.hpp"

namespace urnic::provider {

// Held while memory is registered or deregistered: nobody else registers pages that are being exchanged.
Mutex& registration_lock();

// All under that lock. Exchanges the pages for the file's (page_exchange.hpp), and keeps the range in mind.
abi::Sharing share(const abi::PageRange& range, const Descriptor& file);
// The other way round, and forgets the range. A length of 0: nothing.
void unshare(const abi::PageRange& range, const Descriptor& file);

// The same with a part of a file, which begins at `offset` (queue_pages.hpp). 0 or an errno.
int share_part(const abi::PageRange& range, const Descriptor& file, std::uint64_t offset);
// Does nothing with a range that is not in mind.
void unshare_part(const abi::PageRange& range, const Descriptor& file);

}  // namespace urnic::provider
