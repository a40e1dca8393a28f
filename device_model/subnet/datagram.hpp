// A management datagram between ports of the built-in fabric, and the packet that it is on a link.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "device_model/subnet/node.hpp"
#include "wire/frame.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/psn.hpp"

namespace urnic::subnet {

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

// One packet's way. A datagram that is routed by LID is one packet, from the node that has made it to the one
// that takes it. A directed one is a packet of its own on each link, because every node changes it.
struct Passage {
  NodeIndex maker = 0;            // of the datagram
  PortPlace from;                 // where the packet enters its first link
  std::optional<PortPlace> to{};  // where it leaves the last one; empty: it got stuck
  std::string_view obstacle{};    // why; static storage
  const Datagram& datagram;
};

// Sees packets; a capture needs one.
class PassageObserver {
 public:
  // Whether it wants to see any: else nobody makes them up.
  virtual bool is_observing() const = 0;
  // Called when the packet has reached `to`, and before anybody there acts on it.
  virtual void passed(const Passage& passage) = 0;

 protected:
  ~PassageObserver() = default;
};

}  // namespace urnic::subnet
