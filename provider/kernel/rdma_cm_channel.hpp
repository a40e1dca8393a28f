// Which descriptors are open rdma_cm nodes (channels), and who has opened them.
#pragma once

#include <stdint.h>
#include <sys/types.h>

namespace urnic::kernel {

struct RdmaCmChannel {
  uint64_t cookie;  // socket_cookie
  uid_t opener;     // the user that the process had when it met the channel first
};

// True if `descriptor` is a channel, also if it was inherited or duplicated. Keeps errno. The first call
// remembers the process's user as the opener: open calls it.
bool identify_rdma_cm(int descriptor, RdmaCmChannel& channel);

}  // namespace urnic::kernel
