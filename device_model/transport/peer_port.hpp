// The UDP source port of a connection's peer, as far as packets from outside of this process have shown it.
//
// IBTA A17.3.2.1 leaves the port to the sender and lets it change; the makers that we know keep one for each
// queue pair. It is the one field of 14 bits that somebody who hears nothing of a connection has to guess
// beside the PSN. So a packet with another port is worth less; it is never refused for good, or a peer whose
// port changes (a new flow label, a NAT) would be lost: who sends the same packet once more is believed.
#pragma once

#include <cstdint>

namespace urnic::transport {

class PeerPort {
 public:
  bool known() const { return port_ != 0; }
  // The peer uses it, or so many that a port says nothing.
  bool is(std::uint16_t port) const { return port == port_ || varies(); }
  // The peer has changed its port too often: nothing tells its packets from others.
  bool varies() const { return changes_ > kMostChanges; }
  void learn(std::uint16_t port) {
    if (known()) ++changes_;
    port_ = port;
  }
  // QP to reset.
  void forget() { *this = {}; }

 private:
  static constexpr std::uint32_t kMostChanges = 8;
  std::uint16_t port_ = 0;  // 0, which is no port: nothing has come yet
  std::uint32_t changes_ = 0;
};

}  // namespace urnic::transport
