// A management datagram between ports of the built-in fabric, the packet that it is, and the links that this
// passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "device_model/subnet/node.hpp"
#include "wire/frame.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/psn.hpp"

namespace urnic::subnet {

inline constexpr std::size_t kManagementQueuePairs = 2;  // 0 and 1 (IBTA 3.5.10)

// With what its packet's headers say.
struct Datagram {
  wire::mad::Lid source = wire::kPermissiveLid;
  wire::mad::Lid destination = wire::kPermissiveLid;
  std::uint32_t source_qpn = 0;
  std::uint32_t destination_qpn = 0;  // 0: subnet management; 1: all other classes
  std::uint8_t service_level = 0;
  wire::Pkey pkey{};  // of queue pair 1's; nobody in the subnet checks it
  wire::mad::Mad mad{};
};

// The datagram's packet, without its VCRC: a UD SEND only. Subnet management has
// virtual lane 15, service level 0, and if it is directed no LIDs. The frame refers to `storage` and to the
// datagram.
wire::Frame packet_of(const Datagram& datagram, wire::Psn psn, wire::FrameStorage& storage);

// The datagram of a packet that has arrived without damage; empty: it is none that a management queue pair
// takes (IBTA 13.5.1): another opcode, length, queue pair or Q_Key, or a class of the other queue pair.
std::optional<Datagram> datagram_of(const wire::ParsedFrame& packet);

// Whether nodes send it on by the ports that it names.
bool is_directed(const Datagram& datagram);

// A datagram under way. Routed by LID, it is one packet, from the node that has made it to the one that takes
// it. A directed one is a packet of its own on each link, because every node changes it.
struct Packet {
  NodeIndex maker = 0;       // of the datagram
  PortPlace from{};          // where it enters its first link
  std::uint64_t number = 0;  // 1: the first that this maker's queue pair has sent
  Datagram datagram{};
  std::string remarks{};  // for captures: what links have done to it
};

// The links at both ends of a packet's way, of which some may be a device's: captures look there, and packets
// are lost or late. What lies between two such links is a call.
class EndLinks {
 public:
  // The packet enters the link of the port that sends it. True: it has passed, and the caller goes on. False:
  // Network::come_out is called later, once for each copy that passes, or never.
  virtual bool leave(const Packet& packet) = 0;
  // The same with the link of the port that gets it: Network::come_in.
  virtual bool arrive(const Packet& packet, PortPlace to) = 0;
  // No port gets it. `why` has static storage.
  virtual void stick(const Packet& packet, std::string_view why) = 0;
  // The port that it has come to does not take it. Likewise.
  virtual void refuse(const Packet& packet, PortPlace at, std::string_view why) = 0;

 protected:
  ~EndLinks() = default;
};

}  // namespace urnic::subnet
