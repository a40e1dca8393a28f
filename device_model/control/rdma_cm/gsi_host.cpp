#include "device_model/control/rdma_cm/gsi_host.hpp"

#include <algorithm>
#include <chrono>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/guid_bytes.hpp"

namespace urnic::control::rdma_cm {
namespace {

constexpr auto kCommunicationClass = static_cast<std::uint8_t>(wire::mad::ManagementClass::communication);
constexpr std::uint8_t kClassVersion = 2;

}  // namespace

cm::Time steady_now() {
  return cm::Time(
      std::chrono::duration_cast<cm::Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()));
}

GsiHost::GsiHost(EventLoop& loop, Fabric& fabric, Gsi& gsi, std::function<void()> due)
    : fabric_(fabric), gsi_(gsi), timer_(loop, [this, due = std::move(due)] {
        wakes_at_.reset();
        due();
      }) {}

void GsiHost::on_mad(Handler handler) {
  gsi_.on_class(
      kCommunicationClass, kClassVersion,
      [this, handler = std::move(handler)](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
        if (!device.settings.connection_manager) return false;
        wire::mad::Mad mad;
        std::copy(bytes.begin(), bytes.end(), mad.begin());
        handler({device.index},
                {from.own,
                 from.peer,
                 from.hop_limit,
                 from.traffic_class,
                 from.flow_label,
                 from.service_level,
                 {from.lid},
                 pkey_at(fabric_, device, from.pkey_index).value_or(wire::Pkey{0})},
                mad);
        return true;
      });
}

void GsiHost::stop() { gsi_.on_class(kCommunicationClass, kClassVersion, {}); }

// What cannot be sent is as if it were lost: the manager repeats it.
void GsiHost::send(cm::DeviceIndex device, const cm::GsiAddress& to, const wire::mad::Mad& mad) {
  GsiAddress address;
  address.own = to.own;
  address.peer = to.peer;
  address.hop_limit = to.hop_limit;
  address.traffic_class = to.traffic_class;
  address.flow_label = to.flow_label;
  address.service_level = to.service_level;
  address.lid = to.peer_lid.value;
  ServedDevice& sender = *fabric_.devices()[device.value];
  const auto pkey = pkey_index(fabric_, sender, to.pkey);
  if (!pkey) {
    ++sender.gsi.not_sent;
    return;
  }
  address.pkey_index = *pkey;
  gsi_.send(sender, address, mad);
}

// A timer that expires too early costs less than one that is set for every message.
void GsiHost::wake_at(cm::Time deadline) {
  if (wakes_at_ && *wakes_at_ <= deadline) return;
  wakes_at_ = deadline;
  timer_.set(std::max(deadline - steady_now(), cm::Nanoseconds::zero()));
}

cm::DeviceDescription GsiHost::describe(cm::DeviceIndex device) const {
  const ServedDevice& described = *fabric_.devices()[device.value];
  const auto mtu = static_cast<wire::mad::MtuCode>(limits::mtu_code(described.settings.mtu));
  return {wire::mad::to_guid(described.node_guid), {limits::kAckDelay}, mtu};
}

bool GsiHost::has_gid(cm::DeviceIndex device, const wire::Gid& gid) const {
  const ServedDevice& served = *fabric_.devices()[device.value];
  if (!served.adapter) return gid_index(served, gid).has_value();
  const std::vector<wire::Gid> gids = gids_of(fabric_.subnet().node(*served.adapter));
  return gid != wire::Gid{} && std::find(gids.begin(), gids.end(), gid) != gids.end();
}

}  // namespace urnic::control::rdma_cm
