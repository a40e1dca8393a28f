// TCP connections over loopback, to compare with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace urnic::bench {

// Told the port once the server listens.
using TellPort = std::function<void(std::uint16_t)>;

struct TcpTimes {
  double per_second;
  // From `socket` to `close`. In between the client waits for a byte that the server sends after `accept`:
  // both programs have the connection then, as with rdma_cm's ESTABLISHED. The median.
  double typical_us;
};

// Accepts connections, sends a byte on each and closes it. Does not return. Throws std::runtime_error.
[[noreturn]] void serve_tcp(const TellPort& tell);
// `count` connections, one after the other. Throws std::runtime_error.
TcpTimes measure_tcp(std::uint16_t port, std::size_t count);

}  // namespace urnic::bench
