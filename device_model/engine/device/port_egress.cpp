#include "device_model/engine/device/port_egress.hpp"

namespace urnic::engine {

void PortEgress::transmit(const wire::Frame& frame, const link::PacketOrigin& origin, transport::Time now) {
  ++counters_.transmitted_packets;
  counters_.transmitted_multicast += is_to_group(frame);
  counters_.transmitted_bytes += frame.size();
  port_.transmit(frame, origin, now);
}

std::size_t PortEgress::room(transport::Time now, std::uint64_t round, std::size_t least) const {
  const std::size_t promised = promised_in_ == round ? promised_ : 0;
  const std::size_t room = port_.room(now, least);
  return room > promised ? room - promised : 0;
}

void PortEgress::promise(std::uint64_t round, std::size_t bytes) {
  if (promised_in_ != round) promised_ = 0;
  promised_in_ = round;
  promised_ += bytes;
}

}  // namespace urnic::engine
