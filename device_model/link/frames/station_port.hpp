// A station on the built-in switch: a process that speaks Ethernet frames, or packets of InfiniBand, itself,
// over a socket that it was handed (Switch::add_station). One port serves one station after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_batch.hpp"
#include "device_model/link/frames/outgoing_frames.hpp"
#include "device_model/link/outer_port.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// Engine thread only.
class StationPort final : public OuterPort {
 public:
  StationPort() = default;
  StationPort(const StationPort&) = delete;
  StationPort& operator=(const StationPort&) = delete;

  // A station is there: `socket` is one end of a pair that keeps messages apart (SOCK_SEQPACKET), a frame in
  // each; `address` is the station's.
  void open(memory::Descriptor socket, const wire::MacAddress& address);
  // The same for a station of the InfiniBand subnet. A message is a packet from the LRH to the VCRC; one
  // whose VCRC is wrong ends here (IBTA 7.8.2). It waits in the socket while the subnet takes nothing.
  void open_in_subnet(memory::Descriptor socket);
  // The station has gone.
  void close() { socket_.reset(); }
  bool is_open() const { return static_cast<bool>(socket_); }
  int descriptor() const { return socket_.get(); }

  void take(Port& port, transport::Time now, const Load& most) override;
  void release() override;
  std::uint32_t unreleased() const override { return given_; }
  // Frames for which the station's socket has no room are lost, as on a cable.
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override;
  void flush() override;

 private:
  static constexpr std::size_t kMostWaitingBytes = 256 * 1024;

  bool has_ended() const;
  // As a frame of the switch; empty: its VCRC is wrong.
  std::optional<wire::Frame> frame_of(std::span<const std::byte> message) const;
  // At most as much as the port has room for.
  Load room(const Port& port, transport::Time now, const Load& most) const;

  memory::Descriptor socket_;
  wire::LinkLayer link_layer_ = wire::LinkLayer::ethernet;
  wire::MacAddress address_;
  std::vector<std::byte> leaving_;  // a packet of InfiniBand
  CarrierCounters counters_;
  std::optional<FrameBatch> batch_;  // once a station has been there
  std::uint32_t given_ = 0;
  std::uint64_t received_ = 0;
  OutgoingFrames outgoing_{kMostWaitingBytes};
};

}  // namespace urnic::link
