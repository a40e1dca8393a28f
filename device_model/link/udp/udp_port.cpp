#include "device_model/link/udp/udp_port.hpp"

#include <algorithm>
#include <exception>
#include <system_error>

#include "device_model/link/udp/multicast_socket.hpp"
#include "device_model/link/udp/udp_socket.hpp"
#include "wire/datagram_frame.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

// Source ports of an address.
constexpr std::size_t kPaths = 4;
// How long a device waits when the kernel had no room for its datagrams.
constexpr transport::Nanoseconds kPause{50'000};
// In the identities of packets from outside, beside the number of the device that receives them.
constexpr std::uint32_t kOutside = 0x80000000;

bool is_in_one_piece(const wire::Frame& frame) { return frame.payload.empty() && frame.trailer.empty(); }

// A frame in one piece was made by a program, or was changed on the link. A damaged address must not send it
// to a stranger: IPv4's header has a checksum, which was right; of IPv6 only the ICRC tells.
bool may_be_misdirected(const wire::Frame& frame, const wire::NetworkHeaders& network) {
  if (!is_in_one_piece(frame) || wire::uses_ipv4(network)) return false;
  wire::ParsedFrame parsed;
  return wire::parse(frame, parsed) == wire::ParseError::bad_icrc;
}

}  // namespace

UdpPort::UdpPort(const wire::MacAddress& device, std::uint32_t number,
                 const std::vector<UdpAddress>& addresses, bool segmentation)
    : device_(device), number_(number) {
  for (const UdpAddress& address : addresses) {
    Address& opened = addresses_.emplace_back();
    opened.number = next_number_++;
    opened.gid = address.gid;
    opened.interface = address.scope;
    opened.socket = open_udp_socket(address.gid, address.scope, wire::kRocePort);
    for (std::size_t i = 0; i < kPaths; ++i) {
      Path& path = opened.paths.emplace_back();
      path.socket = open_sending_socket(address.gid, address.scope, path.port);
      prepare_to_send_to_groups(path.socket.get(), wire::is_ipv4_mapped(address.gid), address.scope);
      path.queue = std::make_unique<SendQueue>(path.socket.get(), segmentation, counters_);
    }
  }
}

std::vector<int> UdpPort::wake_descriptors() const {
  std::vector<int> descriptors;
  for (const Address& address : addresses_) descriptors.push_back(address.socket.get());
  return descriptors;
}

int UdpPort::join(const wire::Gid& group) {
  const std::set<std::uint32_t> interfaces = interfaces_for(group);
  if (interfaces.empty()) return -1;
  GroupSockets sockets(group);
  sockets.join_on(interfaces);
  return groups_.emplace_back(Group{next_number_++, std::move(sockets)}).sockets.wake_descriptor();
}

void UdpPort::leave(const wire::Gid& group) {
  std::erase_if(groups_, [&](const Group& joined) { return joined.sockets.group() == group; });
}

void UdpPort::move(const UdpAddress& address) {
  Address* const moved = local(address.gid);
  if (moved == nullptr || moved->interface == address.scope) return;
  moved->interface = address.scope;
  for (const Path& path : moved->paths)
    prepare_to_send_to_groups(path.socket.get(), wire::is_ipv4_mapped(moved->gid), moved->interface);
  std::exception_ptr refused;
  for (Group& group : groups_) {
    try {
      group.sockets.join_on(interfaces_for(group.sockets.group()));
    } catch (const std::system_error&) {
      refused = std::current_exception();
    }
  }
  if (refused) std::rethrow_exception(refused);
}

// The interfaces of the addresses of the group's family.
std::set<std::uint32_t> UdpPort::interfaces_for(const wire::Gid& group) const {
  std::set<std::uint32_t> interfaces;
  for (const Address& address : addresses_)
    if (wire::is_ipv4_mapped(address.gid) == wire::is_ipv4_mapped(group))
      interfaces.insert(address.interface);
  return interfaces;
}

std::uint16_t UdpPort::source_port(const wire::Gid& from, std::uint16_t wanted) const {
  for (const Address& address : addresses_)
    if (address.gid == from) return address.paths[wanted % address.paths.size()].port;
  return wanted;
}

std::uint32_t UdpPort::window_packets(std::uint32_t path_mtu) const {
  constexpr std::uint32_t kLeast = 16;
  return std::max(packets_in_buffer(addresses_.front().socket.get(), path_mtu), kLeast);
}

wire::MacAddress UdpPort::mac_of(const wire::Gid& host) { return stand_in_mac(host); }

UdpCounters UdpPort::counters() const {
  UdpCounters counters = counters_;
  for (const Address& address : addresses_) counters.kernel_drops += kernel_drops(address.socket.get());
  for (const Group& group : groups_)
    group.sockets.for_each_socket([&](int socket) { counters.kernel_drops += kernel_drops(socket); });
  return counters;
}

// Where the datagrams with this number came to; null: to a group that was left since.
const wire::Gid* UdpPort::destination(std::uint32_t number) const {
  if (number < addresses_.size()) return &addresses_[number].gid;
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.number == number; });
  return found == groups_.end() ? nullptr : &found->sockets.group();
}

UdpPort::Address* UdpPort::local(const wire::Gid& gid) {
  const auto found = std::find_if(addresses_.begin(), addresses_.end(),
                                  [&](const Address& address) { return address.gid == gid; });
  return found == addresses_.end() ? nullptr : &*found;
}

SendQueue* UdpPort::queue_from(Address& address, std::uint16_t source_port) {
  for (const Path& path : address.paths)
    if (path.port == source_port) return path.queue.get();
  return nullptr;
}

// The ICRC covers the addresses and the source port: a packet with others than this port's cannot leave. Nor
// can one of a VLAN, whose tag the kernel would have to make.
void UdpPort::arrive(const wire::Frame& frame, const PacketOrigin&) {
  wire::NetworkHeaders network;
  wire::NetworkExtent extent;
  const wire::ParseError error = wire::parse_network(frame.headers, frame.size(), network, extent);
  Address* const from = error == wire::ParseError::none ? local(network.source) : nullptr;
  SendQueue* const queue = from != nullptr ? queue_from(*from, network.udp_source) : nullptr;
  const bool of_a_vlan = wire::vlan_of(network.vlan_tag) != 0;
  if (queue == nullptr || of_a_vlan || may_be_misdirected(frame, network)) {
    ++counters_.not_sendable;
    return;
  }
  const UdpHop hop{to_socket_address(network.destination, wire::kRocePort, from->interface),
                   network.traffic_class, network.hop_limit};
  const auto datagram = frame.headers.subspan(extent.header_bytes);
  if (is_in_one_piece(frame)) {
    queue->add(hop, {}, datagram.first(extent.frame_bytes - extent.header_bytes), {});
  } else {
    queue->add(hop, datagram, frame.payload, frame.trailer);
  }
}

void UdpPort::flush() {
  for (Address& address : addresses_) {
    for (Path& path : address.paths)
      if (!path.queue->flush()) full_until_ = now_ + kPause;
  }
}

// Each address is the first in its turn, so that a flood to one of them does not starve the others.
void UdpPort::take(Port& port, transport::Time now, const Load& most) {
  now_ = now;
  Load left = most;
  hand_on(port, left);  // what the last round had no room for
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    const Address& address = addresses_[(first_ + i) % addresses_.size()];
    take_from(address.socket.get(), address.number, port, left);
  }
  first_ = (first_ + 1) % addresses_.size();
  for (const Group& group : groups_)
    group.sockets.for_each_socket([&](int socket) { take_from(socket, group.number, port, left); });
}

void UdpPort::take_from(int socket, std::uint32_t number, Port& port, Load& left) {
  bool more = true;
  while (more && left.frames != 0 && left.bytes != 0 && arrived_.has_room()) {
    more = arrived_.receive(socket, number);
    is_filling_ = more && is_filling(socket);
    has_dropped_ = false;
    counters_.receive_calls += hand_on(port, left);
  }
}

// False: there was nothing.
bool UdpPort::hand_on(Port& port, Load& left) {
  const std::uint32_t before = arrived_.in_use();
  while (left.frames != 0 && left.bytes != 0) {
    const auto datagram = arrived_.next();
    if (!datagram) break;
    hand_on(*datagram, port);
    --left.frames;
    left.bytes -= std::min(left.bytes, datagram->bytes.size());
  }
  return arrived_.in_use() != before;
}

// A buffer may fill and overflow between two rounds, and be empty when it is looked at. The first datagram
// that finds room again brings the number of those that did not (socket(7), SO_RXQ_OVFL). Groups' sockets do
// not tell: no datagram to a group has a sender that reacts.
void UdpPort::note_drops(const ReceivedDatagram& datagram) {
  if (datagram.socket >= addresses_.size()) return;
  Address& address = addresses_[datagram.socket];
  if (datagram.kernel_drops == address.kernel_drops) return;
  address.kernel_drops = datagram.kernel_drops;
  has_dropped_ = true;
}

// The kernel marks nothing when a socket's buffer fills, and drops what has no room. So this port marks, like
// a switch whose queue is long (RFC 3168, section 5): the senders that react slow down before anything is
// lost, or, where the buffer was too small for that, before more is.
std::uint8_t UdpPort::traffic_class_of(const ReceivedDatagram& datagram) {
  constexpr std::uint8_t kExperienced = 3;
  const int ecn = datagram.traffic_class & kExperienced;
  if (ecn == 0 || ecn == kExperienced) return datagram.traffic_class;
  if (!is_filling_ && !has_dropped_) return datagram.traffic_class;
  ++counters_.marked;
  return datagram.traffic_class | kExperienced;
}

void UdpPort::hand_on(const ReceivedDatagram& datagram, Port& port) {
  const wire::Gid* const to = destination(datagram.socket);
  if (to == nullptr) return;
  note_drops(datagram);
  const wire::Gid source = to_gid(datagram.source);
  const wire::MacAddress source_mac = mac_of(source);
  ++counters_.received;
  const bool is_group = wire::is_multicast(*to);
  const wire::NetworkHeaders network{.destination_mac = is_group ? wire::multicast_mac(*to) : device_,
                                     .source_mac = source_mac,
                                     .destination = *to,
                                     .source = source,
                                     .traffic_class = traffic_class_of(datagram),
                                     .hop_limit = datagram.hop_limit,
                                     .ip_identification = datagram.before,
                                     .udp_source = port_of(datagram.source)};
  wire::Frame frame;
  if (wire::frame_of_datagram(network, datagram.bytes, *datagram.headers, frame) != wire::ParseError::none) {
    ++counters_.malformed;
    return;
  }
  port.transmit(frame,
                {.identity = {kOutside | number_, 0, counters_.received},
                 .queue_pair = kUnknownQpn,
                 .selective_acks = transport::SelectiveAcks::outside,
                 .device = source_mac},
                now_);
}

}  // namespace urnic::link
