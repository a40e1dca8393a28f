// A device's port for sending: takes and counts frames, and says how many bytes the port takes in this round.
// As a link::Port it is the way of frames that the device's host sends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/engine/device/port_counters.hpp"
#include "device_model/link/port.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::engine {

class PortEgress final : public link::Port {
 public:
  // Both outlive this.
  PortEgress(link::Port& port, PortCounters& counters) : port_(port), counters_(counters) {}

  bool up(transport::Time now) const override { return port_.up(now); }
  void transmit(const wire::Frame& frame, const link::PacketOrigin& origin, transport::Time now) override;
  std::size_t in_place_from(const wire::NetworkHeaders& path) const override {
    return port_.in_place_from(path);
  }
  std::size_t room(transport::Time now, std::size_t least) const override { return port_.room(now, least); }
  transport::Time room_at(std::size_t least) const override { return port_.room_at(least); }

  // Bytes that the port takes at `now` without falling behind, less those promised in this `round`; at least
  // `least` if the line is idle.
  std::size_t room(transport::Time now, std::uint64_t round, std::size_t least) const;
  // Promises `bytes` of the round's room to a QP; they are transmitted when the round is carried out.
  void promise(std::uint64_t round, std::size_t bytes);

 private:
  link::Port& port_;
  PortCounters& counters_;
  std::uint64_t promised_in_ = 0;  // the round of `promised_`
  std::size_t promised_ = 0;
};

// The frame's destination is a group address: on Ethernet the lowest bit of its first byte is set (IEEE 802).
inline bool is_to_group(const wire::Frame& frame) {
  if (frame.link_layer == wire::LinkLayer::infiniband) [[unlikely]]
    return wire::infiniband::is_to_group(frame.headers);
  return !frame.headers.empty() && (frame.headers[0] & std::byte{1}) != std::byte{0};
}

}  // namespace urnic::engine
