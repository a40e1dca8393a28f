#include "device_model/link/frames/packet_carrier.hpp"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "device_model/link/socket_options.hpp"
#include "wire/byte_order.hpp"

namespace urnic::link {
namespace {

[[noreturn]] void fail(const std::string& interface, const std::string& what) {
  throw std::system_error(errno, std::generic_category(), "interface " + interface + ": " + what);
}

void set(int socket, int option, int value, const std::string& interface) {
  if (!set_option(socket, SOL_PACKET, option, value))
    fail(interface, "packet socket option " + std::to_string(option));
}

// 0: the socket receives nothing before it is bound.
memory::Descriptor make_socket(const std::string& interface) {
  memory::Descriptor made(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made && errno == EPERM)
    fail(interface,
         "packets of an interface need CAP_NET_RAW; root has it, or 'setcap cap_net_raw+ep' on urnicd gives "
         "it, "
         "or start urnic in a network namespace of your own ('unshare -Urn')");
  if (!made) fail(interface, "packet socket");
  return made;
}

// A promiscuous socket would take all that the host receives.
std::vector<sock_filter> program_for(const std::vector<wire::MacAddress>& devices) {
  constexpr std::uint32_t kWhole = 0xFFFF'FFFF;
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),
                                   BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1),  // a group
                                   BPF_STMT(BPF_RET | BPF_K, kWhole)};
  for (const wire::MacAddress& device : devices) {
    const auto bytes = std::as_bytes(std::span(device.bytes));
    program.insert(program.end(),
                   {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::load_be32(bytes.data()), 0, 3),
                    BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 4),
                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::load_be16(bytes.data() + 4), 0, 1),
                    BPF_STMT(BPF_RET | BPF_K, kWhole)});
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  return program;
}

}  // namespace

PacketCarrier::PacketCarrier(const std::string& interface, const std::vector<wire::MacAddress>& devices)
    : socket_(make_socket(interface)) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) fail(interface, "no such interface in this network namespace");
  set(socket_.get(), PACKET_AUXDATA, 1, interface);
  set(socket_.get(), PACKET_IGNORE_OUTGOING, 1, interface);
  enlarge_receive_buffer(socket_.get());
  std::vector<sock_filter> filter = program_for(devices);
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    fail(interface, "packet filter");
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_protocol = htons(ETH_P_ALL);
  name.sll_ifindex = static_cast<int>(index);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
    fail(interface, "bind");
  packet_mreq membership{};
  membership.mr_ifindex = name.sll_ifindex;
  membership.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &membership, sizeof membership) != 0)
    fail(interface, "cannot be made promiscuous");
  wake_.add(socket_.get());
}

std::span<const std::span<std::byte>> PacketCarrier::receive(transport::Time, const Load& most) {
  return batch_.receive(socket_.get(), most);
}

std::size_t PacketCarrier::send(std::span<const std::byte> frames) {
  int error = 0;
  const std::size_t done = batch_.send(socket_.get(), frames, error);
  wake_.watch_for_room(socket_.get(), error == EAGAIN);
  return done;
}

CarrierCounters PacketCarrier::counters() const {
  tpacket_stats statistics{};
  socklen_t size = sizeof statistics;
  if (getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0)
    counters_.kernel_drops += statistics.tp_drops;
  return counters_;
}

}  // namespace urnic::link
