#include "device_model/control/fabric/served_device.hpp"

#include <cerrno>

#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"

namespace urnic::control {

ServedDevice::ServedDevice(std::uint32_t number, const DeviceSettings& with)
    : index(number), settings(with), node_guid(modified_eui64(with.mac)), largest_mtu(with.mtu) {}

ServedDevice::~ServedDevice() = default;

int find_gid(const ServedDevice& device, std::uint32_t index, wire::Gid& gid) {
  const auto& gids = device.settings.gids;
  if (index >= limits::kGidTableLength) return EINVAL;
  if (index >= gids.size() || gids[index] == wire::Gid{}) return ENODATA;
  gid = gids[index];
  return 0;
}

}  // namespace urnic::control
