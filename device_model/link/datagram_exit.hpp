// Management datagrams of an InfiniBand subnet on the links of devices: whoever sends one knows its way,
// which no table of the switch's has (docs/decisions/subnet-by-calls.md).
#pragma once

#include <cstdint>
#include <string_view>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

enum class LinkPassage : std::uint8_t {
  passed,     // at once, because the link does nothing to packets
  under_way,  // comes out of the exit, perhaps before the call returns, or is lost
  no_room,    // lost, because too many are under way
};

// One as a packet. The views stay valid during the call.
struct DatagramPacket {
  const wire::Frame& frame;
  const PacketOrigin& origin;
  std::uint32_t maker = 0;   // whose frames under way are counted together
  std::string_view remarks;  // what was done to it before
};

// Where they come out.
class DatagramExit {
 public:
  // One has passed the link of the device at port number `port`; it may be damaged. The views stay valid
  // during the call.
  virtual void come_out(const wire::Frame& frame, const PacketOrigin& origin, std::uint32_t port,
                        Direction passed, std::string_view remarks) = 0;

 protected:
  ~DatagramExit() = default;
};

}  // namespace urnic::link
