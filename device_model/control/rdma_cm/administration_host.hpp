// What subnet administration's client asks for: queue pair 1 of each InfiniBand device, and the control
// thread's timer.
#pragma once

#include <functional>
#include <optional>

#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/subnet/administration/client.hpp"

namespace urnic::control::rdma_cm {

class AdministrationHost final : public subnet::administration::Host {
 public:
  // All outlive it. `due` is called when the time has come that the client has asked for.
  AdministrationHost(EventLoop& loop, Fabric& fabric, Gsi& gsi, std::function<void()> due);
  ~AdministrationHost();
  AdministrationHost(const AdministrationHost&) = delete;
  AdministrationHost& operator=(const AdministrationHost&) = delete;

  // Offers answers to `handler` from now on, which says whether it has asked for them. Others, and requests,
  // are for programs.
  using Handler = std::function<bool(subnet::NodeIndex, wire::Lid source, const wire::mad::Mad&)>;
  void on_answer(Handler handler);

  std::optional<wire::Lid> send(subnet::NodeIndex adapter, const wire::mad::Mad& mad) override;
  void wake_at(transport::Time deadline) override;

 private:
  Fabric& fabric_;
  Gsi& gsi_;
  Timer timer_;
};

}  // namespace urnic::control::rdma_cm
