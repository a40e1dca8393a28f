#include "tests/bench/connections.hpp"

#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::bench {
namespace {

using apps::require;
using Clock = std::chrono::steady_clock;

apps::CqOwner create_cq(const apps::Device& device, int entries) {
  apps::CqOwner cq(ibv_create_cq(device.context(), entries, nullptr, nullptr, 0));
  require(cq != nullptr, "{}: no completion queue of {} entries: {}", device.name(), entries,
          std::strerror(errno));
  return cq;
}

apps::EndpointOptions endpoint_options(const ConnectionsOptions& options) {
  apps::EndpointOptions endpoint;
  endpoint.mtu = IBV_MTU_4096;
  endpoint.capacity = {options.send_requests, 1, 1, 1, 0};
  endpoint.signal_all = true;
  return endpoint;
}

}  // namespace

Connections::Connections(const ConnectionsOptions& options)
    : from_cq_(create_cq(from_device_, options.cq_entries)), to_cq_(create_cq(to_device_, 1)) {
  const apps::EndpointOptions endpoint = endpoint_options(options);
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < options.count; ++i) {
    from_.push_back(std::make_unique<apps::Endpoint>(from_device_, endpoint, from_cq_.get(), from_cq_.get()));
    to_.push_back(std::make_unique<apps::Endpoint>(to_device_, endpoint, to_cq_.get(), to_cq_.get()));
  }
  const auto created = Clock::now();
  for (std::size_t i = 0; i < options.count; ++i) {
    from_[i]->connect(to_[i]->address());
    to_[i]->connect(from_[i]->address());
  }
  creating_ = created - begin;
  connecting_ = Clock::now() - created;
}

}  // namespace urnic::bench
