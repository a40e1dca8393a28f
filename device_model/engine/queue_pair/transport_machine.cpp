#include "device_model/engine/queue_pair/transport_machine.hpp"

#include "device_model/transport/unreliable/raw_packet.hpp"
#include "device_model/transport/unreliable/unreliable_connection.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"

namespace urnic::engine {

using transport::QpService;

TransportMachine::TransportMachine(QpService service, const transport::QpConfig& config) {
  switch (service) {
    case QpService::uc:
      unreliable_ = std::make_unique<transport::UnreliableConnection>(config);
      return;
    case QpService::ud:
      unreliable_ = std::make_unique<transport::UnreliableDatagram>(config);
      return;
    case QpService::raw_packet:
      unreliable_ = std::make_unique<transport::RawPacket>(config);
      return;
    case QpService::rc:
    case QpService::xrc_initiator:
    case QpService::xrc_target:
      break;
  }
  reliable_.emplace(config);
}

transport::QueuePairSnapshot TransportMachine::snapshot() const {
  if (is_reliable()) return reliable_->snapshot();
  transport::QueuePairSnapshot now;
  now.state = unreliable_->state();
  now.destination = unreliable_->parameters().destination;
  return now;
}

}  // namespace urnic::engine
