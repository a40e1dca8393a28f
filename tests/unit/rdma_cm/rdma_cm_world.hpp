// rdma_cm on a fabric of two devices, under virtual time. MADs arrive when a test says so, and a test answers
// for the subnet manager.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/rdma_cm/rdma_cm.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm::test {

using namespace std::chrono_literals;

// Carries MADs between the devices of the fabric, under virtual time.
class Network final : public cm::Host {
 public:
  explicit Network(const Fabric& fabric) : fabric_(fabric) {}

  void send(cm::DeviceIndex from, const cm::GsiAddress& to, const wire::mad::Mad& mad) override {
    for (const auto& device : fabric_.devices()) {
      if (has_gid({device->index}, to.peer))
        waiting.push_back(
            {{device->index},
             {to.peer, to.own, 64, to.traffic_class, to.flow_label, to.service_level, lid_of(from), to.pkey},
             mad});
    }
  }
  void wake_at(cm::Time) override {}
  cm::DeviceDescription describe(cm::DeviceIndex device) const override { return {{device.value + 1}}; }
  bool has_gid(cm::DeviceIndex device, const wire::Gid& gid) const override {
    const ServedDevice& served = *fabric_.devices()[device.value];
    const auto gids = served.adapter ? gids_of(fabric_.subnet().node(*served.adapter)) : served.settings.gids;
    return std::find(gids.begin(), gids.end(), gid) != gids.end();
  }

  struct Waiting {
    cm::DeviceIndex device;
    cm::GsiAddress from;
    wire::mad::Mad mad;
  };
  std::deque<Waiting> waiting;

 private:
  wire::Lid lid_of(cm::DeviceIndex device) const {
    const auto adapter = fabric_.devices()[device.value]->adapter;
    return adapter ? fabric_.subnet().port(*adapter).lid : wire::Lid{};
  }

  const Fabric& fabric_;
};

// Keeps what is sent to the subnet manager, whose LID a test chooses.
class Manager final : public subnet::administration::Host {
 public:
  std::optional<wire::Lid> send(subnet::NodeIndex adapter, const wire::mad::Mad& mad) override {
    if (lid == wire::Lid{}) return {};
    asked.push_back({adapter, mad});
    return lid;
  }
  void wake_at(transport::Time) override {}

  struct Request {
    subnet::NodeIndex adapter;
    wire::mad::Mad mad;
  };
  wire::Lid lid{1};
  bool has_administration = true;
  std::deque<Request> asked;
};

struct World {
  explicit World(const Configuration& configuration = default_configuration()) : fabric(configuration) {}

  Fabric fabric;
  Network network{fabric};
  cm::Time now{1s};
  WorkInPortions work;
  std::uint32_t last_qp = 0;  // a queue pair has one connection only
  Manager manager;
  RdmaCm rdma_cm{fabric,
                 {network, manager, [this] { return manager.has_administration; }},
                 [this] { return now; },
                 {.seed = 7},
                 work};

  // Lets MADs arrive until there are no more.
  void deliver() {
    while (!network.waiting.empty()) {
      const Network::Waiting next = network.waiting.front();
      network.waiting.pop_front();
      rdma_cm.connections().receive(next.device, next.from, next.mad, now);
    }
  }
  void pass(cm::Nanoseconds time) {
    const cm::Time end = now + time;
    for (auto next = rdma_cm.connections().next_deadline(); next && *next <= end;
         next = rdma_cm.connections().next_deadline()) {
      now = std::max(now, *next);
      rdma_cm.connections().expire(now);
      deliver();
    }
    now = end;
    rdma_cm.administration().expire(now);
    rdma_cm.resolutions().look_again();
  }
  void finish_work() {
    while (!work.empty()) work.run_one();
  }
};

}  // namespace urnic::control::rdma_cm::test
