#include "device_model/engine/queue_pair/hosted_queue_pair.hpp"

#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

HostedQueuePair::HostedQueuePair(const HostedQueuePairConfig& config) : device_(*config.device) {
  if (const auto qpn = device_.queue_pairs().reserve()) {
    context_ = std::make_unique<QueuePairContext>(config, *qpn);
  }
}

HostedQueuePair::~HostedQueuePair() {
  if (!context_) return;
  // What the QP has emitted, and the events owed for it, refer to it and to its CQs.
  device_.data_path().settle();
  if (installed_) device_.queue_pairs().remove(*context_);
  device_.multicast_groups().remove(*context_);
  const wire::Qpn qpn = context_->qpn();
  device_.memory_table().release_queue_pair(qpn);
  context_.reset();
  device_.queue_pairs().release(qpn);
}

bool HostedQueuePair::install() {
  if (!context_) return false;
  device_.queue_pairs().install(*context_);
  context_->install();
  installed_ = true;
  return true;
}

wire::Qpn HostedQueuePair::qpn() const { return context_->qpn(); }

transport::QpState HostedQueuePair::state() const { return context_->machine().state(); }

const transport::QpParameters& HostedQueuePair::parameters() const {
  return context_->machine().parameters();
}

bool HostedQueuePair::drained() const { return context_->machine().drained(); }

void HostedQueuePair::modify(transport::QpState state, const transport::QpParameters& parameters,
                             const std::optional<wire::NetworkHeaders>& path, bool notify_drained) {
  context_->modify(state, parameters, path, notify_drained);
}

void HostedQueuePair::set_recovery(const transport::RecoverySettings& settings) {
  context_->set_recovery(settings);
}

void HostedQueuePair::limit_rate(std::uint32_t rate_kbps, std::uint32_t burst_bytes) {
  context_->limit_rate(rate_kbps, burst_bytes);
}

void HostedQueuePair::add_listener(EventPipe& pipe, std::uint64_t user_handle) {
  context_->listeners().add(pipe, user_handle);
}

std::uint32_t HostedQueuePair::remove_listener(EventPipe& pipe, std::uint64_t user_handle) {
  return context_->listeners().remove(pipe, user_handle);
}

}  // namespace urnic::engine
