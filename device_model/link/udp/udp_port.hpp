// A device's port that is UDP port 4791 of this host: RoCEv2 to and from any device that IP reaches, for an
// ordinary user.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "device_model/link/outer_port.hpp"
#include "device_model/link/udp/group_sockets.hpp"
#include "device_model/link/udp/receive_batch.hpp"
#include "device_model/link/udp/send_queue.hpp"
#include "device_model/link/udp/udp_counters.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"
#include "wire/network_headers.hpp"

namespace urnic::link {

// An address of this host; an IPv4 address is a mapped GID.
struct UdpAddress {
  wire::Gid gid;
  std::uint32_t scope = 0;  // the interface's index
};

class UdpPort final : public OuterPort {
 public:
  // Opens the sockets. `device` is the address of the device in frames, `number` its number. `segmentation`:
  // see send_queue.hpp. Throws std::system_error with a sentence.
  UdpPort(const wire::MacAddress& device, std::uint32_t number, const std::vector<UdpAddress>& addresses,
          bool segmentation = false);

  // Any thread. Readable when datagrams have come.
  std::vector<int> wake_descriptors() const;
  // Any thread. The source port for a flow that asks for `wanted`: one of this port's own, always the same
  // for the same flow. So flows have several paths through a network (IBTA A17.3.2.1).
  std::uint16_t source_port(const wire::Gid& from, std::uint16_t wanted) const;
  // Any thread. How many packets a connection may have under way, so that they fit into the socket buffer of
  // a peer like this host. Packets of several connections may overflow it: then they are lost, and sent
  // again. A congestion control would take the place of this.
  std::uint32_t window_packets(std::uint32_t path_mtu) const;
  // Any thread. In frames, whatever the host's real one.
  static wire::MacAddress mac_of(const wire::Gid& host);

  // Engine thread. Becomes a member of a multicast group on the interfaces of its addresses of the group's
  // family. Returns a descriptor that is readable when datagrams to the group have come; -1: it has no such
  // address. Throws std::system_error with a sentence.
  int join(const wire::Gid& group);
  void leave(const wire::Gid& group);
  // Engine thread. An address of this port is on another interface now: groups are joined there, too, and
  // datagrams to groups leave there. Throws std::system_error with a sentence: a group cannot be joined; it
  // has joined the others.
  void move(const UdpAddress& address);

  UdpCounters counters() const;

  void take(Port& port, transport::Time now, const Load& most) override;
  void release() override { arrived_.release(); }
  std::uint32_t unreleased() const override { return arrived_.in_use(); }
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override;
  void flush() override;
  bool has_room(transport::Time now) const override { return full_until_ <= now; }
  transport::Time room_at() const override { return full_until_; }

 private:
  // A socket that sends, and its source port.
  struct Path {
    std::uint16_t port = 0;
    memory::Descriptor socket;
    std::unique_ptr<SendQueue> queue;
  };
  // The numbers tell whose a datagram is, and are never used again.
  struct Address {
    std::uint32_t number = 0;
    wire::Gid gid;
    memory::Descriptor socket;  // receives at port 4791
    std::uint32_t interface = 0;
    std::vector<Path> paths;
    std::uint32_t kernel_drops = 0;  // that its datagrams have told of
  };
  struct Group {
    std::uint32_t number;
    GroupSockets sockets;
  };

  std::set<std::uint32_t> interfaces_for(const wire::Gid& group) const;
  void take_from(int socket, std::uint32_t number, Port& port, Load& left);
  bool hand_on(Port& port, Load& left);
  void note_drops(const ReceivedDatagram& datagram);
  std::uint8_t traffic_class_of(const ReceivedDatagram& datagram);
  void hand_on(const ReceivedDatagram& datagram, Port& port);
  const wire::Gid* destination(std::uint32_t number) const;
  Address* local(const wire::Gid& gid);
  SendQueue* queue_from(Address& address, std::uint16_t source_port);

  const wire::MacAddress device_;
  const std::uint32_t number_;
  std::deque<Address> addresses_;
  std::deque<Group> groups_;
  std::uint32_t next_number_ = 0;
  std::size_t first_ = 0;  // whose turn it is to be the first to receive
  ReceiveBatch arrived_;
  // The socket that was received from last: its buffer is filling; it was too full for a datagram before one
  // of those that the last call received.
  bool is_filling_ = false;
  bool has_dropped_ = false;
  UdpCounters counters_;
  transport::Time now_{};
  transport::Time full_until_{};
};

}  // namespace urnic::link
