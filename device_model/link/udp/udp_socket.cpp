#include "device_model/link/udp/udp_socket.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "device_model/link/socket_options.hpp"
#include "device_model/link/udp/kernel_options.hpp"
#include "device_model/link/udp/socket_address.hpp"
#include "wire/network_headers.hpp"

namespace urnic::link {
namespace {

constexpr std::uint16_t kFirstSourcePort = 0xC000;

std::string text_of(const wire::Gid& address, std::uint16_t port) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  return std::string("UDP port ") + std::to_string(port) + " of " + text;
}

[[noreturn]] void fail(const wire::Gid& address, std::uint16_t port, const char* what) {
  std::string sentence = text_of(address, port) + ": " + what;
  if (errno == EADDRINUSE) sentence += " (does another device process, or Soft-RoCE, use it?)";
  if (errno == EADDRNOTAVAIL) sentence += " (no interface of this machine has this address)";
  throw std::system_error(errno, std::generic_category(), sentence);
}

bool set_ip_options(int socket, bool ipv4) {
  if (ipv4)
    return set_option(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
           set_option(socket, IPPROTO_IP, IP_TTL, kUdpHopLimit) &&
           set_option(socket, IPPROTO_IP, IP_RECVTOS, 1) && set_option(socket, IPPROTO_IP, IP_RECVTTL, 1);
  return set_option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
         set_option(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
         set_option(socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kUdpHopLimit) &&
         set_option(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
         set_option(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
}

memory::Descriptor open_unbound(const wire::Gid& address, std::uint16_t port) {
  const bool ipv4 = wire::is_ipv4_mapped(address);
  memory::Descriptor opened(socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!opened) fail(address, port, "no socket");
  if (!set_ip_options(opened.get(), ipv4)) fail(address, port, "a socket option is refused");
  enlarge_receive_buffer(opened.get());
  enlarge_send_buffer(opened.get());
  return opened;
}

bool bind_to(int socket, const wire::Gid& address, std::uint32_t scope, std::uint16_t port) {
  const SocketAddress name = to_socket_address(address, port, scope);
  return bind(socket, &name.any, size_of(name)) == 0;
}

// What comes to a port that only sends is nobody's.
void discard_arrivals(int socket) {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{.len = 1, .filter = &nothing};
  setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

}  // namespace

memory::Descriptor open_udp_socket(const wire::Gid& address, std::uint32_t scope, std::uint16_t port) {
  memory::Descriptor opened = open_unbound(address, port);
  if (!bind_to(opened.get(), address, scope, port)) fail(address, port, "cannot be bound");
  // Without it drops are counted, and nothing more.
  set_option(opened.get(), SOL_SOCKET, SO_RXQ_OVFL, 1);
  // Without it (before Linux 5.0) every datagram comes alone.
  set_option(opened.get(), IPPROTO_UDP, UDP_GRO, 1);
  return opened;
}

memory::Descriptor open_sending_socket(const wire::Gid& address, std::uint32_t scope, std::uint16_t& port) {
  constexpr int kAttempts = 1000;
  memory::Descriptor opened = open_unbound(address, kFirstSourcePort);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint16_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) fail(address, kFirstSourcePort, "getrandom");
    port = kFirstSourcePort | random;
    if (!bind_to(opened.get(), address, scope, port)) {
      if (errno == EADDRINUSE) continue;
      break;
    }
    discard_arrivals(opened.get());
    return opened;
  }
  fail(address, kFirstSourcePort, "no source port can be bound");
}

// The kernel counts what a packet takes in its memory: about half of it is payload (skb->truesize).
std::uint32_t packets_in_buffer(int socket, std::uint32_t payload_bytes) {
  constexpr std::uint32_t kOverhead = 512;
  int bytes = 0;
  socklen_t length = sizeof bytes;
  getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
  return static_cast<std::uint32_t>(bytes) / (2 * payload_bytes + kOverhead);
}

namespace {

// All zero if the kernel does not tell.
std::array<std::uint32_t, SK_MEMINFO_VARS> memory_of(int socket) {
  std::array<std::uint32_t, SK_MEMINFO_VARS> values{};
  socklen_t bytes = sizeof values;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values.data(), &bytes) != 0) values = {};
  return values;
}

}  // namespace

bool is_filling(int socket) {
  const auto values = memory_of(socket);
  return values[SK_MEMINFO_RMEM_ALLOC] > values[SK_MEMINFO_RCVBUF] / 2;
}

std::uint64_t kernel_drops(int socket) { return memory_of(socket)[SK_MEMINFO_DROPS]; }

}  // namespace urnic::link
