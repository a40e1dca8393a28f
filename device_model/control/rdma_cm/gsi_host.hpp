// The connection manager's surroundings: queue pair 1 of each device, and the control thread's timer.
#pragma once

#include <functional>
#include <optional>

#include "device_model/cm/host.hpp"
#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/loop/event_loop.hpp"

namespace urnic::control::rdma_cm {

// The monotonic clock of this process.
cm::Time steady_now();

class GsiHost final : public cm::Host {
 public:
  // All outlive it. `due` is called when the time has come that the manager has asked for, or before.
  GsiHost(EventLoop& loop, Fabric& fabric, Gsi& gsi, std::function<void()> due);

  // Hands MADs of the connection manager's class to `handler` from now on.
  using Handler = std::function<void(cm::DeviceIndex, const cm::GsiAddress&, const wire::mad::Mad&)>;
  void on_mad(Handler handler);
  // To nobody any more.
  void stop();

  void send(cm::DeviceIndex device, const cm::GsiAddress& to, const wire::mad::Mad& mad) override;
  void wake_at(cm::Time deadline) override;
  cm::DeviceDescription describe(cm::DeviceIndex device) const override;
  bool has_gid(cm::DeviceIndex device, const wire::Gid& gid) const override;

 private:
  Fabric& fabric_;
  Gsi& gsi_;
  std::optional<cm::Time> wakes_at_;
  Timer timer_;
};

}  // namespace urnic::control::rdma_cm
