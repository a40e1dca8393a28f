// The parts of a device that its queue pairs and shared receive queues use.
#pragma once

#include <cstdint>

#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {
struct PacketOrigin;
}
namespace urnic::memory {
class MemoryTable;
}
namespace urnic::transport {
struct Counters;
}
namespace urnic::wire {
struct Frame;
}

namespace urnic::engine {

class AddressHandleTable;
class MulticastGroups;
class NotifiedPeers;
class PortEgress;
class QpTable;
class Round;
class SharedReceiveTable;

// Takes frames again that a QP has held.
class Ingress {
 public:
  // The frame arrived before, and was counted then.
  virtual void arrive_again(const wire::Frame& frame, const link::PacketOrigin& origin) = 0;

 protected:
  ~Ingress() = default;
};

struct DeviceResources {
  Round& round;
  memory::MemoryTable& memory_table;
  AddressHandleTable& address_handles;
  MulticastGroups& multicast_groups;
  NotifiedPeers& notified_peers;
  QpTable& queue_pairs;
  SharedReceiveTable& shared_receive_queues;
  transport::Counters& counters;
  PortEgress& port;
  Ingress& ingress;
  std::uint32_t number;  // of the device, in configuration order
  wire::MacAddress mac;
  wire::LinkLayer link_layer;
  wire::Icrc icrc;  // of packets that QPs send
};

}  // namespace urnic::engine
