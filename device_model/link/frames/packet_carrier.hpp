// Frames of a network interface of the host, beside the host's own IP stack (AF_PACKET).
//
// The devices have MAC and IP addresses of their own there, as virtual machines on a bridge have. The
// interface is made promiscuous, so that it takes frames to those MAC addresses; the kernel ignores such
// frames (packet(7), PACKET_OTHERHOST). With the host's addresses a device could not work: the kernel would
// take its packets too, and answer them with "port unreachable". Frames of this socket go to the cable only:
// host and devices do not hear each other, as with macvlan.
//
// recvmmsg and sendmmsg instead of a ring shared with the kernel (TPACKET_V3): docs/wires.md tells what was
// measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_model/link/frames/frame_batch.hpp"
#include "device_model/link/frames/wake_set.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

class PacketCarrier final : public FrameCarrier {
 public:
  // Takes frames to `devices` and to groups. Needs CAP_NET_RAW in the user namespace of the network
  // namespace. Throws std::system_error with a sentence.
  PacketCarrier(const std::string& interface, const std::vector<wire::MacAddress>& devices);

  int wake_descriptor() const override { return wake_.descriptor(); }
  bool is_connected() const override { return true; }
  std::span<const std::span<std::byte>> receive(transport::Time now, const Load& most) override;
  void release() override { batch_.release(); }
  std::size_t send(std::span<const std::byte> frames) override;
  CarrierCounters counters() const override;

 private:
  memory::Descriptor socket_;
  WakeSet wake_;
  mutable CarrierCounters counters_;  // the kernel forgets what it has told
  FrameBatch batch_{counters_};
};

}  // namespace urnic::link
