#include "provider/kernel/rdma_cm_channel.hpp"

#include <unistd.h>

#include <atomic>

#include "provider/kernel/device_node.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/socket_identity.hpp"

namespace urnic::kernel {

namespace {

// The sockets that were seen to be channels, by their cookies: asking for a peer's path for every command
// would take longer than the command. A place is taken by the socket that was seen last.
struct Seen {
  std::atomic<uint64_t> cookie;
  std::atomic<uid_t> opener;
};
constexpr unsigned kSeen = 1024;
constinit Seen seen[kSeen] = {};

}  // namespace

bool identify_rdma_cm(int descriptor, RdmaCmChannel& channel) {
  const uint64_t cookie = socket_cookie(descriptor);
  if (cookie == 0) return false;
  Seen& place = seen[cookie % kSeen];
  if (place.cookie.load(std::memory_order_relaxed) != cookie) {
    if (!is_open_node(descriptor, kRdmaCmNode)) return false;
    place.opener.store(geteuid(), std::memory_order_relaxed);
    place.cookie.store(cookie, std::memory_order_relaxed);
  }
  channel = {cookie, place.opener.load(std::memory_order_relaxed)};
  return true;
}

}  // namespace urnic::kernel
