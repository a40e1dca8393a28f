// What a device gives its queue pairs and shared receive queues to work with.
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::memory {
class MemoryTable;
}
namespace urnic::transport {
struct Counters;
}

namespace urnic::engine {

class AddressHandleTable;
class MulticastGroups;
class PortEgress;
class QpTable;
class Round;
class SharedReceiveTable;

struct DeviceResources {
  Round& round;
  memory::MemoryTable& memory_table;
  AddressHandleTable& address_handles;
  MulticastGroups& multicast_groups;
  QpTable& queue_pairs;
  SharedReceiveTable& shared_receive_queues;
  transport::Counters& counters;
  PortEgress& port;
  std::uint32_t number;  // of the device, in configuration order
  wire::MacAddress mac;
};

}  // namespace urnic::engine
