// The ports of rdma_cm: a world of their own beside those of TCP and UDP sockets.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device_model/control/fabric/loan.hpp"
#include "device_model/control/rdma_cm/socket_address.hpp"
#include "wire/mad/service_id.hpp"

namespace urnic::control::rdma_cm {

using wire::mad::PortSpace;

// "tcp", "udp", "ib", "ipoib".
std::string_view name(PortSpace space);

// The addresses of an identifier, and how it shares its port.
struct Endpoints {
  std::uint32_t identifier = 0;  // whose they are
  SocketAddress source;
  SocketAddress destination;
  bool reuse_address = false;
  bool address_family_only = false;
};

struct Claim {
  PortSpace space{};
  std::uint16_t port = 0;
  Endpoints* owner = nullptr;
};

class Ports;
using TakenPort = Loan<Ports, Claim>;

// Control thread only. The rules are Linux's (cma_get_port), except that loopback addresses are addresses
// like others: two programs may have the same port of 127.0.0.1 and 127.0.0.2.
class Ports {
 public:
  // The range of net.ipv4.ip_local_port_range, as Linux sets it.
  static constexpr std::uint16_t kFirstEphemeral = 32768;
  static constexpr std::uint16_t kLastEphemeral = 60999;
  static constexpr std::uint16_t kFirstUnprivileged = 1024;

  explicit Ports(std::uint64_t seed) : random_(seed) {}
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  // Takes the source's port for `owner`, or for port 0 a free one, which it writes into the source. 0, or
  // EADDRINUSE (another has the address and port), EADDRNOTAVAIL (one of the two has a wildcard; or no port
  // is free). `owner` outlives `taken`; whoever changes its addresses keeps the port.
  int take(PortSpace space, Endpoints& owner, TakenPort& taken);
  // The same for a port that `taken` shares and that is to be listened at: nobody else may be there.
  int check_exclusive(const TakenPort& taken) const;

  void give_back(const Claim& claim);

  // The identifiers that have the port, at whatever address.
  std::vector<std::uint32_t> owners(PortSpace space, std::uint16_t port) const;

 private:
  using Owners = std::vector<Endpoints*>;
  static std::uint32_t key(PortSpace space, std::uint16_t port) {
    return static_cast<std::uint32_t>(space) << 16 | port;
  }
  const Owners* find(PortSpace space, std::uint16_t port) const;
  void enter(PortSpace space, std::uint16_t port, Endpoints& owner, TakenPort& taken);
  int take_any(PortSpace space, Endpoints& owner, TakenPort& taken);

  std::unordered_map<std::uint32_t, Owners> owners_;
  std::mt19937_64 random_;
  std::uint16_t last_ = 0;  // the ephemeral port that was given last
};

}  // namespace urnic::control::rdma_cm
