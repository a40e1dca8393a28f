// The admin socket's request for snapshots of queue pairs: "queue_pairs".
#include <algorithm>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;
using transport::QpService;

// Queue pairs in one answer: while an engine takes snapshots, its programs wait.
constexpr std::size_t kPage = 64;

// A queue pair's place in the order of pages: its context's number, then its handle there.
using Place = std::pair<std::uint32_t, std::uint32_t>;

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

double microseconds(transport::Nanoseconds span) {
  return std::chrono::duration<double, std::micro>(span).count();
}

json describe(const transport::RequesterSnapshot& requester) {
  return {{"recovery", name(requester.recovery)},
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
          {"ack_timeout_us", requester.ack_timeout ? json(microseconds(*requester.ack_timeout)) : json()}};
}

json describe(const transport::ResponderSnapshot& responder) {
  return {{"expected_psn", responder.expected_psn.value()},
          {"msn", responder.msn.value},
          {"has_hole", responder.has_hole},
          {"owes_responses", responder.owes_responses}};
}

json describe(const Context& context, const engine::QueuePairStatus& status, transport::Time now) {
  const transport::QueuePairSnapshot& transport = status.transport;
  json text{{"context", context.id},
            {"device", context.device.settings.name},
            {"qpn", status.qpn.value},
            {"service", service_name(status.service)},
            {"state", transport::name(transport.state)},
            {"destination_qpn", transport.destination.value},
            {"packets_sent", status.packets_sent},
            {"wants_to_send", status.wants_to_send},
            {"waits_for_memory", status.waits_for_memory},
            {"timer_us", transport.deadline ? json(microseconds(*transport.deadline - now)) : json()}};
  if (transport.reliable) {
    text["requester"] = describe(transport.requester);
    text["responder"] = describe(transport.responder);
  }
  return text;
}

Place read_place(const json& request) {
  const auto after = request.find("after");
  if (after == request.end()) return {0, 0};
  const auto is_number = [](const json& part) {
    return part.is_number_unsigned() &&
           part.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  };
  if (!after->is_array() || after->size() != 2 || !is_number((*after)[0]) || !is_number((*after)[1]))
    throw std::runtime_error("\"after\" must be the \"next\" of the answer before");
  return {(*after)[0].get<std::uint32_t>(), (*after)[1].get<std::uint32_t>()};
}

}  // namespace

// Ordered by place, so that paging misses no queue pair that exists all the time.
json AdminServer::queue_pairs(const json& request, AdminConnectionState&) {
  const Place after = read_place(request);
  std::vector<std::pair<Place, Context*>> page;
  for (const auto& context : surroundings_.control.contexts().all()) {
    for (const auto& [handle, qp] : context->qps) {
      if (const Place place{context->id, handle}; place > after) page.emplace_back(place, context.get());
    }
  }
  const std::size_t count = std::min(page.size(), kPage);
  const auto end = page.begin() + static_cast<std::ptrdiff_t>(count);
  const bool more = page.size() > count;
  std::partial_sort(page.begin(), end, page.end());
  page.erase(end, page.end());

  json all = json::array();
  for (auto first = page.begin(); first != page.end();) {
    const Context& context = *first->second;
    const auto behind =
        std::find_if(first, page.end(), [&](const auto& each) { return each.second != &context; });
    engine::Engine& engine = surroundings_.fabric.engine(context.device);
    std::vector<engine::QueuePairStatus> statuses;
    transport::Time now;
    engine.execute([&] {
      now = engine.now();
      for (; first != behind; ++first)
        statuses.push_back(context.qps.find(first->first.second)->shared->hosted->status());
    });
    for (const auto& status : statuses) all.push_back(describe(context, status, now));
  }
  json next;
  if (more) next = {page.back().first.first, page.back().first.second};
  return {{"queue_pairs", all}, {"next", next}};
}

}  // namespace urnic::control
