// The admin socket's requests for what queue pairs are doing: "queue_pairs", and "queue_pair" for one of
// them.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/queue_pair_description.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

// Queue pairs in one answer: while an engine takes snapshots, its programs wait.
constexpr std::size_t kPage = 64;

// A queue pair's place in the order of pages: its context's number, then its handle there.
using Place = std::pair<std::uint32_t, std::uint32_t>;

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

FoundQueuePair find_queue_pair(const Fabric& fabric, const ControlServer& control, const json& request) {
  const ServedDevice* const device = find_device(fabric, request);
  if (device == nullptr) throw std::runtime_error("\"device\" must name the device of the queue pair");
  const json number = request.value("qpn", json());
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() > 0xFFFFFF)
    throw std::runtime_error(fmt::format("qpn = {}: allowed is a QP's number", json_text(number)));
  for (const auto& context : control.contexts().all()) {
    if (&context->device != device) continue;
    for (const auto& [handle, queue_pair] : context->qps) {
      if (queue_pair->qpn == number.get<std::uint32_t>()) return {*context, *queue_pair};
    }
  }
  throw std::runtime_error(fmt::format("{} has no QP {}", device->settings.name, json_text(number)));
}

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
    std::vector<const QueuePair*> queue_pairs;
    for (; first != behind; ++first) queue_pairs.push_back(context.qps.find(first->first.second));
    std::vector<engine::QueuePairStatus> statuses;
    transport::Time now;
    engine.execute([&] {
      now = engine.now();
      for (const QueuePair* each : queue_pairs) statuses.push_back(each->shared->hosted->status());
    });
    for (std::size_t i = 0; i < statuses.size(); ++i)
      all.push_back(describe({surroundings_.fabric, context, *queue_pairs[i], now}, statuses[i]));
  }
  json next;
  if (more) next = {page.back().first.first, page.back().first.second};
  return {{"queue_pairs", all}, {"next", next}};
}

// An XRC target that several contexts have opened is described as the first of them has it.
json AdminServer::queue_pair(const json& request, AdminConnectionState&) {
  const FoundQueuePair found = find_queue_pair(surroundings_.fabric, surroundings_.control, request);
  engine::Engine& engine = surroundings_.fabric.engine(found.context.device);
  engine::QueuePairInDetail detail;
  transport::Time now;
  engine.execute([&] {
    now = engine.now();
    detail = found.queue_pair.shared->hosted->detail();
  });
  return {{"queue_pair", describe({surroundings_.fabric, found.context, found.queue_pair, now}, detail)}};
}

}  // namespace urnic::control
