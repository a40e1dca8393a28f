#include "device_model/control/admin/queue_pair_description.hpp"

#include <chrono>
#include <optional>
#include <vector>

#include "device_model/control/fabric/congestion_names.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;
using transport::QpService;

const char* service_name(QpService service) {
  switch (service) {
    case QpService::rc:
      return "RC";
    case QpService::uc:
      return "UC";
    case QpService::ud:
      return "UD";
    case QpService::raw_packet:
      return "RAW_PACKET";
    case QpService::xrc_initiator:
      return "XRC_INI";
    case QpService::xrc_target:
      return "XRC_TGT";
  }
  return "?";
}

const char* name(transport::PsnSpan::Kind kind) {
  using Kind = transport::PsnSpan::Kind;
  switch (kind) {
    case Kind::in_flight:
      return "in_flight";
    case Kind::lost:
      return "lost";
    case Kind::arrived_ahead:
      return "arrived_ahead";
    case Kind::not_sent:
      return "not_sent";
    case Kind::held:
      return "held";
  }
  return "?";
}

const char* name(transport::RunningTimer::Kind kind) {
  using Kind = transport::RunningTimer::Kind;
  switch (kind) {
    case Kind::local_ack:
      return "local_ack";
    case Kind::rnr:
      return "rnr";
    case Kind::credit:
      return "credit";
    case Kind::recovery:
      return "recovery";
  }
  return "?";
}

const char* name(transport::WorkOpcode opcode) {
  using transport::WorkOpcode;
  switch (opcode) {
    case WorkOpcode::rdma_write:
      return "RDMA_WRITE";
    case WorkOpcode::rdma_write_with_immediate:
      return "RDMA_WRITE_WITH_IMM";
    case WorkOpcode::send:
      return "SEND";
    case WorkOpcode::send_with_immediate:
      return "SEND_WITH_IMM";
    case WorkOpcode::rdma_read:
      return "RDMA_READ";
    case WorkOpcode::atomic_compare_swap:
      return "ATOMIC_CMP_AND_SWP";
    case WorkOpcode::atomic_fetch_add:
      return "ATOMIC_FETCH_AND_ADD";
    case WorkOpcode::local_invalidate:
      return "LOCAL_INV";
    case WorkOpcode::bind_memory_window:
      return "BIND_MW";
    case WorkOpcode::send_with_invalidate:
      return "SEND_WITH_INV";
    case WorkOpcode::atomic_write:
      return "ATOMIC_WRITE";
  }
  return "?";
}

double microseconds(transport::Nanoseconds span) {
  return std::chrono::duration<double, std::micro>(span).count();
}

template <typename Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

// Null: no congestion control.
json describe(const transport::CongestionSnapshot& congestion) {
  using transport::CongestionAlgorithm;
  if (congestion.algorithm == CongestionAlgorithm::off) return nullptr;
  json description{{"algorithm", control::name(congestion.algorithm)}, {"notifications", congestion.marks}};
  const transport::SendAllowance& allowed = congestion.allowance;
  description["rate_gbps"] = allowed.rate.is_limited() ? json(allowed.rate.gbps()) : json();
  if (congestion.algorithm == CongestionAlgorithm::dcqcn) {
    description["target_gbps"] = congestion.target_rate.gbps();
    description["alpha"] = congestion.alpha;
    return description;
  }
  description["round_trip_us"] = microseconds(congestion.round_trip);
  if (congestion.algorithm != CongestionAlgorithm::rtt) return description;
  description["window_bytes"] = allowed.window;
  description["target_delay_us"] = microseconds(congestion.target_delay);
  return description;
}

json describe(const transport::RequesterSnapshot& requester) {
  return {{"recovery", control::name(requester.recovery)},
          {"next_psn", requester.next_psn.value()},
          {"unacknowledged_psn", requester.unacknowledged_psn.value()},
          {"in_flight", requester.in_flight},
          {"arrived_ahead", requester.arrived_ahead},
          {"lost", requester.lost},
          {"window", requester.window},
          {"reads_under_way", requester.reads_under_way},
          {"transport_retries", requester.transport_retries},
          {"waits_for_receive", requester.waits_for_receive},
          {"waits_for_credit", requester.waits_for_credit},
          {"selective_acks", requester.selective_acks},
          {"peer_is_stranger", requester.peer_is_stranger},
          {"congestion", describe(requester.congestion)},
          {"ack_timeout_us", requester.ack_timeout ? json(microseconds(*requester.ack_timeout)) : json()}};
}

json describe(const transport::ResponderSnapshot& responder) {
  return {{"expected_psn", responder.expected_psn.value()},
          {"msn", responder.msn.value},
          {"has_hole", responder.has_hole},
          {"owes_responses", responder.owes_responses}};
}

// Null: it has no path yet, or leads out of this process.
json peer_device(const SeenQueuePair& seen) {
  const auto& path = seen.queue_pair.shared->path;
  if (!path) return nullptr;
  for (const auto& device : seen.fabric.devices()) {
    if (device->settings.mac == path->destination_mac) return device->settings.name;
  }
  return nullptr;
}

json describe(const std::vector<transport::PsnSpan>& spans) {
  json all = json::array();
  for (const auto& span : spans) all.push_back({name(span.kind), span.first.value(), span.count});
  return all;
}

void add(json& requester, const transport::RequesterDetail& detail, transport::Time now) {
  requester["packets"] = describe(detail.packets);
  json& timers = requester["timers"] = json::array();
  for (const auto& timer : detail.timers)
    timers.push_back({{"timer", name(timer.kind)}, {"us", microseconds(timer.deadline - now)}});
  json& requests = requester["requests"] = json::array();
  for (const auto& request : detail.requests) {
    requests.push_back({{"index", request.index},
                        {"first_psn", request.first.value()},
                        {"packets", request.packets},
                        {"ssn", request.message.value}});
  }
  requester["oldest_index"] = detail.oldest;
  requester["sending_index"] = detail.sending;
  requester["taken_index"] = detail.taken;
  requester["credits"] = or_null(detail.credits);
  requester["retries_left"] = or_null(detail.retries_left);
  requester["rnr_retries_left"] = or_null(detail.rnr_retries_left);
  requester["round_trip_us"] = detail.round_trip ? json(microseconds(*detail.round_trip)) : json();
}

json describe(const engine::QueueIndices& indices) {
  return {{"slots", indices.slots},
          {"producer", indices.producer},
          {"taken", indices.taken},
          {"consumer", indices.retired}};
}

json describe(const engine::QueuedSends& sends) {
  json queue = describe(sends.indices);
  json& wqes = queue["wqes"] = json::array();
  for (const auto& [request, segments] : sends.wqes) {
    wqes.push_back({{"index", request.index},
                    {"opcode", request.malformed ? "malformed"
                               : request.is_idle ? "NOP"
                                                 : name(request.opcode)},
                    {"length", request.length},
                    {"segments", segments},
                    {"inline", request.is_inline},
                    {"signaled", request.signaled},
                    {"fence", request.fence},
                    {"solicited", request.solicited},
                    {"remote_address", request.remote_address},
                    {"rkey", request.rkey.value}});
  }
  return queue;
}

json describe(const engine::QueuedReceives& receives) {
  json queue = describe(receives.indices);
  json& wqes = queue["wqes"] = json::array();
  for (const auto& wqe : receives.wqes) {
    wqes.push_back({{"index", wqe.index},
                    {"opcode", wqe.malformed ? "malformed" : "RECEIVE"},
                    {"length", wqe.length},
                    {"segments", wqe.segments}});
  }
  return queue;
}

json describe(const engine::CompletionQueue::Indices& indices, std::uint32_t number) {
  return {{"number", number},
          {"slots", indices.slots},
          {"producer", indices.producer},
          {"consumer", indices.consumer},
          {"overrun", indices.overrun}};
}

json describe_cq(const std::optional<engine::CompletionQueue::Indices>& indices,
                 const CompletionQueue* queue) {
  return indices && queue != nullptr ? describe(*indices, queue->number) : json();
}

}  // namespace

json describe(const SeenQueuePair& seen, const engine::QueuePairStatus& status) {
  const transport::QueuePairSnapshot& transport = status.transport;
  json text{{"context", seen.context.id},
            {"device", seen.context.device.settings.name},
            {"qpn", status.qpn.value},
            {"service", service_name(status.service)},
            {"state", transport::name(transport.state)},
            {"destination_qpn", transport.destination.value},
            {"destination_device", peer_device(seen)},
            {"packets_sent", status.packets_sent},
            {"wants_to_send", status.wants_to_send},
            {"waits_for_memory", status.waits_for_memory},
            {"timer_us", transport.deadline ? json(microseconds(*transport.deadline - seen.now)) : json()}};
  if (transport.reliable) {
    text["requester"] = describe(transport.requester);
    text["responder"] = describe(transport.responder);
  }
  return text;
}

json describe(const SeenQueuePair& seen, const engine::QueuePairInDetail& detail) {
  json text = describe(seen, detail.status);
  if (detail.transport) {
    add(text["requester"], detail.transport->requester, seen.now);
    text["responder"]["held"] = describe(detail.transport->responder.held);
    text["responder"]["credits"] = or_null(detail.transport->responder.credits);
  }
  text["send_queue"] = describe(detail.sends);
  text["receive_queue"] = detail.receives ? describe(*detail.receives) : json();
  text["send_cq"] = describe_cq(detail.send_cq, seen.queue_pair.send_cq);
  text["receive_cq"] = describe_cq(detail.receive_cq, seen.queue_pair.receive_cq);
  return text;
}

}  // namespace urnic::control
