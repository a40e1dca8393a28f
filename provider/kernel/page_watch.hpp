// Doorbell pages whose first store wakes a device that sleeps.
#pragma once

#include <stddef.h>

#include "provider/freestanding/descriptor.hpp"

namespace urnic::kernel {

// A userfaultfd(2) for the pages: a thread that touches one which its file does not have waits until the
// descriptor's owner lets it go on, or until nobody has the descriptor open. Not valid if the kernel refuses
// it, or a filter of system calls might.
provider::Descriptor watch_pages(void* pages, size_t length);

}  // namespace urnic::kernel
