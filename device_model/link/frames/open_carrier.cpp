#include <utility>

#include "device_model/link/frames/carrier_settings.hpp"
#include "device_model/link/frames/datagram_carrier.hpp"
#include "device_model/link/frames/packet_carrier.hpp"
#include "device_model/link/frames/stream_carrier.hpp"
#include "device_model/link/frames/tap_carrier.hpp"

namespace urnic::link {

std::unique_ptr<FrameCarrier> open_carrier(const CarrierSettings& settings) {
  switch (settings.kind) {
    case CarrierKind::listen:
    case CarrierKind::connect:
      return std::make_unique<StreamCarrier>(settings);
    case CarrierKind::datagram:
      return std::make_unique<DatagramCarrier>(settings.name, settings.remote);
    case CarrierKind::interface:
      return std::make_unique<PacketCarrier>(settings.name, settings.devices);
    case CarrierKind::tap: {
      auto tap = open_tap(settings.name);
      bring_up(settings.name);
      return std::make_unique<TapCarrier>(std::move(tap));
    }
  }
  return nullptr;
}

}  // namespace urnic::link
