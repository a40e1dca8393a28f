// Many reliable connections from one device to another, to measure the cost of many QPs.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/apps/programs/endpoint.hpp"

namespace urnic::bench {

struct ConnectionsOptions {
  std::size_t count = 1;            // connections, each of two QPs
  std::uint32_t send_requests = 4;  // the size of each send queue
  int cq_entries = 256;             // the size of the one completion queue of each end
};

// The constructor connects all QPs, or throws std::runtime_error. Each end's QPs share one completion queue.
class Connections {
 public:
  explicit Connections(const ConnectionsOptions& options);

  std::size_t count() const { return from_.size(); }
  apps::Device& from_device() { return from_device_; }
  apps::Device& to_device() { return to_device_; }
  ibv_cq* from_cq() const { return from_cq_.get(); }
  ibv_qp* from(std::size_t i) const { return from_[i]->qp(); }

  // The time that it took to create all QPs, and to bring them from RESET to RTS.
  std::chrono::duration<double> creating() const { return creating_; }
  std::chrono::duration<double> connecting() const { return connecting_; }

 private:
  using Ends = std::vector<std::unique_ptr<apps::Endpoint>>;

  apps::Device from_device_{"urnic0"};
  apps::Device to_device_{"urnic1"};
  apps::CqOwner from_cq_;
  apps::CqOwner to_cq_;
  Ends from_;
  Ends to_;
  std::chrono::duration<double> creating_{};
  std::chrono::duration<double> connecting_{};
};

}  // namespace urnic::bench
