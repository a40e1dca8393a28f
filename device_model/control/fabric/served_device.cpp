#include "device_model/control/fabric/served_device.hpp"

#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"

namespace urnic::control {

ServedDevice::ServedDevice(std::uint32_t number, const DeviceSettings& with)
    : index(number), settings(with), node_guid(modified_eui64(with.mac)), largest_mtu(with.mtu) {}

ServedDevice::~ServedDevice() = default;

}  // namespace urnic::control
