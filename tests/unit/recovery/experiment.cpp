#include "tests/unit/recovery/experiment.hpp"

#include <algorithm>

namespace urnic::transport::lab {
namespace {

wire::TransportHeaders headers_of(wire::Operation operation) {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, operation);
  return headers;
}

double slot_seconds(const Experiment& experiment, wire::Operation operation, std::uint32_t payload) {
  return 8.0 * line_bytes(headers_of(operation), payload) / experiment.bits_per_second;
}

Nanoseconds slot(const Experiment& experiment, wire::Operation operation, std::uint32_t payload) {
  return Nanoseconds(static_cast<std::int64_t>(1e9 * slot_seconds(experiment, operation, payload)));
}

wire::Operation data_operation(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::rdma_read:
      return wire::Operation::read_response_middle;
    case WorkOpcode::send:
      return wire::Operation::send_middle;
    default:
      return wire::Operation::write_middle;
  }
}

double data_slot_seconds(const Experiment& experiment) {
  return slot_seconds(experiment, data_operation(experiment.operation), experiment.path_mtu);
}

}  // namespace

Nanoseconds data_slot(const Experiment& experiment) {
  return slot(experiment, data_operation(experiment.operation), experiment.path_mtu);
}

Nanoseconds round_trip(const Experiment& experiment) {
  const bool read = experiment.operation == WorkOpcode::rdma_read;
  const auto other = read ? wire::Operation::read_request : wire::Operation::acknowledge;
  return 2 * experiment.delay + data_slot(experiment) + slot(experiment, other, 0);
}

double line_rate(const Experiment& experiment) {
  return 8.0 * experiment.path_mtu / data_slot_seconds(experiment);
}

LaboratorySettings laboratory_settings(const Experiment& experiment) {
  LinkSettings link;
  link.impairments.rate_gbps = experiment.bits_per_second / 1e9;
  link.impairments.delay = experiment.delay;
  set_loss(link.impairments, experiment.loss);
  LaboratorySettings settings = symmetric(experiment.mode, link);
  settings.path_mtu = experiment.path_mtu;
  settings.seed = experiment.seed;
  settings.peer = experiment.peer;
  // Soft-RoCE answers a repeated READ behind all that were asked for before it: 16 MiB.
  if (experiment.peer == Peer::soft_roce) settings.timeout = 14;
  const Nanoseconds trip = round_trip(experiment);
  for (RecoverySettings& recovery : settings.recovery) {
    recovery.irn_window = static_cast<std::uint32_t>(trip / data_slot(experiment)) + 1;
    recovery.irn_timeout_low = std::max(recovery.irn_timeout_low, 3 * trip);
    recovery.irn_timeout_high = std::max(recovery.irn_timeout_high, 10 * trip);
  }
  return settings;
}

double one_hole_a_round_trip(const Experiment& experiment) {
  const double p = experiment.loss.loss;
  const double packets = data_slot_seconds(experiment) / (p * seconds(round_trip(experiment)));
  return std::min(1.0, packets / (1 - p));
}

double gbn_closed_form(const Experiment& experiment) {
  const double p = experiment.loss.loss;
  const double slot_time = data_slot_seconds(experiment);
  const LaboratorySettings settings = laboratory_settings(experiment);
  const double timeout = 4.096e-6 * static_cast<double>(1u << settings.timeout);
  const double unnoticed = (1 - (1 - p) * (1 - p)) / (1 - p);
  const double per_hole = slot_time + seconds(round_trip(experiment)) + unnoticed * timeout;
  return 8.0 * experiment.path_mtu / (slot_time + p * per_hole);
}

}  // namespace urnic::transport::lab
