// The requests of the admin socket, one function each.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_model/control/admin/active_capture.hpp"
#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/engine_watch.hpp"
#include "device_model/control/admin/lan_report.hpp"
#include "device_model/control/admin/subnet_description.hpp"
#include "device_model/control/admin/wire_description.hpp"
#include "device_model/control/fabric/congestion_names.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/rdma_cm/rdma_cm_server.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/memory/mapped_memory.hpp"
#include "device_model/subnet/network.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

json describe_limits(const DeviceSettings& settings) {
  return {{"max_qp", settings.max_qp},        {"max_qp_wr", limits::kMaxQpWr},
          {"max_sge", limits::kMaxSge},       {"max_inline_data", limits::kMaxInlineData},
          {"max_cq", limits::kMaxCq},         {"max_cqe", limits::kMaxCqe},
          {"max_mr", limits::kMaxMr},         {"max_mw", limits::kMaxMw},
          {"max_pd", limits::kMaxPd},         {"max_qp_rd_atom", limits::kMaxRdAtomic},
          {"max_srq", limits::kMaxSrq},       {"max_srq_wr", limits::kMaxSrqWr},
          {"max_msg_sz", limits::kMaxMessage}};
}

json describe_quotas(Quotas& quotas) {
  json all = json::object();
  for (std::size_t i = 0; i < kResources; ++i) {
    const auto resource = static_cast<Resource>(i);
    const Allowance allowance = quotas.allowance(resource);
    all[std::string(kResourceNames[i])] = {
        {"used", quotas.used(resource)}, {"all", allowance.all}, {"program", allowance.program}};
  }
  return all;
}

json describe_sharing(const SharingCounters& counters) {
  return {{"shared", counters.shared},
          {"refused_for_threads", counters.refused_for_threads},
          {"refused_for_memory", counters.refused_for_memory},
          {"refused_by_kernel", counters.refused_by_kernel}};
}

json describe_rdma_cm(rdma_cm::RdmaCm& rdma_cm) {
  json listeners = json::array();
  rdma_cm.identifiers().for_each_listener([&](const rdma_cm::Id& id) {
    listeners.push_back({{"address", rdma_cm::to_text(id.endpoints.source)},
                         {"port_space", rdma_cm::name(id.space)},
                         {"program", id.channel->opener().name}});
  });
  return {{"identifiers", rdma_cm.identifiers().count()},
          {"connections", rdma_cm.connections().usage().connections},
          {"listeners", listeners}};
}

json describe_context(const Context& context) {
  const ObjectCounts counts = context.counts();
  json processes = json::array();
  json pids = json::array();
  for (const auto& process : context.processes()) {
    const auto* memory = process->memory();
    processes.push_back({{"pid", process->pid()},
                         {"program", process->program()},
                         {"memory", memory != nullptr ? memory->way() : "none"}});
    if (const auto waits = process->waits_for_memory())
      processes.back()["waits_for_memory_s"] = std::chrono::duration<double>(*waits).count();
    pids.push_back(process->pid());
  }
  const json program = processes.empty() ? json("") : processes[0]["program"];
  return {{"id", context.id},
          {"device", context.device.settings.name},
          {"program", program},
          {"pids", pids},
          {"processes", processes},
          {"objects",
           {{"pd", counts.pd},
            {"mr", counts.mr},
            {"mw", counts.mw},
            {"cq", counts.cq},
            {"qp", counts.qp},
            {"srq", counts.srq},
            {"xrcd", counts.xrcd},
            {"channels", counts.channels}}},
          {"queue_bytes", context.arenas.total_size()}};
}

json describe_pools(const engine::EnginePools& pools) {
  return {{"staging_arenas", pools.staging_arenas}, {"staging_bytes", pools.staging_bytes},
          {"held_packets", pools.held_packets},     {"frames_under_way", pools.frames_under_way},
          {"frames_lent", pools.frames_lent},       {"timers", pools.timers},
          {"queue_pairs", pools.queue_pairs},       {"memory_stalls", pools.memory_stalls},
          {"late_events", pools.late_events},       {"at_rest", pools == engine::kPoolsAtRest}};
}

// Addresses, names and plans go to functions that take what is before a NUL character for the whole. What is
// nested deeper than any request would use up the stack when it is printed.
void refuse_hostile(const json& request) {
  constexpr std::size_t kDeepest = 8;
  struct Place {
    const json* value;
    std::string key;
    std::size_t depth;
  };
  std::vector<Place> places{{&request, "", 0}};
  while (!places.empty()) {
    const Place place = places.back();
    places.pop_back();
    if (place.depth > kDeepest)
      throw std::runtime_error(
          fmt::format("{} is nested more than {} times", json_text(place.key), kDeepest));
    if (place.value->is_string() &&
        place.value->get_ref<const std::string&>().find('\0') != std::string::npos)
      throw std::runtime_error(
          fmt::format("{} has a NUL character, which no text may have", json_text(place.key)));
    if (!place.value->is_structured()) continue;
    for (const auto& [name, member] : place.value->items())
      places.push_back({&member, place.value->is_object() ? name : place.key, place.depth + 1});
  }
}

double seconds(std::chrono::nanoseconds span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

ServedDevice* find_device(const Fabric& fabric, const json& request) {
  const auto found = request.find("device");
  if (found == request.end() || found->is_null() || *found == "all") return nullptr;
  std::string names;
  for (const auto& device : fabric.devices()) {
    if (*found == device->settings.name) return device.get();
    names += device->settings.name + ", ";
  }
  throw std::runtime_error(fmt::format("there is no device {}: known are {}all", json_text(*found), names));
}

json AdminServer::handle(const json& request, AdminConnectionState& state) {
  static const std::map<std::string, Handler> kHandlers{
      {"status", &AdminServer::status},
      {"counters", &AdminServer::counters},
      {"lease", &AdminServer::lease},
      {"keep", &AdminServer::keep},
      {"source", &AdminServer::source},
      {"make_way", &AdminServer::make_way},
      {"capture", &AdminServer::capture},
      {"down", &AdminServer::down},
      {"link", &AdminServer::link},
      {"set", &AdminServer::set},
      {"fault", &AdminServer::fault},
      {"gid", &AdminServer::gid},
      {"queue_pair", &AdminServer::queue_pair},
      {"queue_pairs", &AdminServer::queue_pairs},
      {"network", &AdminServer::network},
      {"station", &AdminServer::station},
      {"subnet", &AdminServer::subnet},
  };
  refuse_hostile(request);
  const auto cmd = request.find("cmd");
  const auto handler = cmd != request.end() && cmd->is_string()
                           ? kHandlers.find(cmd->get_ref<const std::string&>())
                           : kHandlers.end();
  if (handler == kHandlers.end()) {
    throw std::runtime_error(
        "\"cmd\" must be one of status, counters, lease, keep, capture, down, fault, gid, link, make_way, "
        "network, queue_pair, queue_pairs, set, source, station, subnet");
  }
  // Most requests wait for an engine, which would keep this thread from its other work.
  if (const auto answer = surroundings_.watch.answer(request)) return *answer;
  return (this->*handler->second)(request, state);
}

json AdminServer::describe_device(const ServedDevice& device) const {
  Fabric& fabric = surroundings_.fabric;
  const DeviceSettings& settings = device.settings;
  json gids = json::array();
  for (const wire::Gid& gid : settings.gids) gids.push_back(to_text(gid));
  const auto& g = device.node_guid;
  return {{"name", settings.name},
          {"face", name(settings.face)},
          {"link_layer", name(settings.link_layer)},
          {"pci_address", settings.pci ? json(to_text(*settings.pci)) : json()},
          {"node", fmt::format("uverbs{}", surroundings_.sysfs.node_number(device))},
          {"node_guid", fmt::format("{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}:{:02x}{:02x}", g[0], g[1], g[2],
                                    g[3], g[4], g[5], g[6], g[7])},
          {"mac", to_text(settings.mac)},
          {"gids", gids},
          {"link", fabric.link_is_up(device, fabric.engine(device).now()) ? "up" : "down"},
          {"raw_packets", name(settings.raw_packets)},
          {"number_seed", settings.number_seed ? json(*settings.number_seed) : json()},
          {"recovery", name(settings.recovery.mode)},
          {"congestion", name(settings.congestion.algorithm)},
          {"mtu", settings.mtu},
          {"wire", describe_wire(device)},
          {"interface", device.interface ? json(device.interface->name) : json()},
          {"limits", describe_limits(device.settings)}};
}

json AdminServer::status(const json&, AdminConnectionState&) {
  json devices = json::array();
  for (const auto& device : surroundings_.fabric.devices()) {
    surroundings_.fabric.engine(*device).execute([&] { devices.push_back(describe_device(*device)); });
  }
  json pools = json::array();
  surroundings_.fabric.execute_on_all(
      [&](const EngineUnit& unit) { pools.push_back(describe_pools(unit.engine.data_path().pools())); });
  json contexts = json::array();
  for (const auto& context : surroundings_.control.contexts().all()) {
    contexts.push_back(describe_context(*context));
  }
  json answer{{"version", URNIC_VERSION},
              {"pid", getpid()},
              {"uptime_seconds", seconds(std::chrono::steady_clock::now() - started_)},
              {"engine",
               {{"threads", surroundings_.fabric.engines()},
                {"stuck", json::array()},
                {"processor_seconds", seconds(surroundings_.fabric.processor_time())},
                {"mapped_regions", memory::MappedMemory::count()},
                {"memory_sharing", describe_sharing(surroundings_.fabric.sharing_counters())},
                {"pools", pools}}},
              {"devices", devices},
              {"contexts", contexts},
              {"rdma_cm", describe_rdma_cm(surroundings_.rdma_cm.rdma_cm())},
              {"limits", describe_quotas(surroundings_.fabric.quotas())},
              {"captures", captures()},
              {"leases", leases()}};
  if (!surroundings_.fabric.subnet().nodes().empty())
    answer["subnet"] = describe_subnet(surroundings_.fabric, surroundings_.manager);
  if (surroundings_.fabric.lan() != nullptr) answer["lan"] = describe_lan(surroundings_.fabric);
  return answer;
}

json AdminServer::counters(const json& request, AdminConnectionState&) {
  const ServedDevice* only = find_device(surroundings_.fabric, request);
  json devices = json::object();
  for (const auto& device : surroundings_.fabric.devices()) {
    if (only != nullptr && device.get() != only) continue;
    json& values = devices[device->settings.name] = json::object();
    const CounterSnapshot counters = snapshot(surroundings_.fabric, *device);
    for (const CounterValue& counter : port_values(counters))
      values[std::string(counter.name)] = counter.value;
    for (const CounterValue& counter : hardware_values(counters)) {
      values[std::string(counter.name)] = counter.value;
    }
    for (const auto& [counter, value] : link_values(surroundings_.fabric, *device)) values[counter] = value;
  }
  json answer{{"devices", devices}};
  if (only == nullptr) {
    for (const SwitchCounterValue& counter : switch_values(surroundings_.fabric))
      answer["switch"][std::string(counter.name)] = counter.value;
  }
  return answer;
}

json AdminServer::lease(const json&, AdminConnectionState& state) {
  state.lease = true;
  surroundings_.changed();
  const Quotas& quotas = surroundings_.fabric.quotas();
  return {{"ok", true},
          {"contexts_opened", surroundings_.openings()},
          {"lookups", surroundings_.lookups()},
          {"refusals", quotas.refusals()},
          {"last_refused", kResourceNames[static_cast<std::size_t>(quotas.last_refused())]}};
}

json AdminServer::keep(const json&, AdminConnectionState&) {
  surroundings_.keep();
  return {{"ok", true}};
}

json AdminServer::capture(const json& request, AdminConnectionState& state) {
  if (state.capture != nullptr) throw std::runtime_error("a capture runs on this connection already");
  ActiveCapture::Wanted wanted{capture_points(request), find_device(surroundings_.fabric, request)};
  if (request.contains("qpn")) {
    wanted.queue_pair =
        wire::Qpn{find_queue_pair(surroundings_.fabric, surroundings_.control, request).queue_pair.qpn};
  }
  wanted.sample = request.value("sample", json()) == true;
  wanted.snapshot_bytes = snapshot_bytes(request);
  Charge charge = state.account->charge(Resource::captures, 1);
  state.capture = std::make_unique<ActiveCapture>(surroundings_.fabric, wanted);
  state.captures = std::move(charge);
  state.descriptors = {state.capture->writer().ring_descriptor(), state.capture->writer().wake_descriptor()};
  json interfaces = json::array();
  for (const auto& [device, point, link_layer] : state.capture->interfaces()) {
    interfaces.push_back({{"device", device},
                          {"point", short_name(point)},
                          {"description", link::name(point)},
                          {"link_layer", name(link_layer)}});
  }
  return {{"ok", true}, {"interfaces", interfaces}};
}

json AdminServer::source(const json&, AdminConnectionState&) {
  const ConfigurationSource& source = surroundings_.source;
  return {{"udp", source.udp},
          {"face", name(source.face)},
          {"config", source.file},
          {"text", source.text},
          {"network", source.network},
          {"outside", source.outside},
          {"interfaces", source.interfaces},
          {"infiniband", source.infiniband},
          {"ibsim_net", source.ibsim_net}};
}

json AdminServer::make_way(const json& request, AdminConnectionState& state) {
  const bool ends = surroundings_.is_about_to_end();
  if (ends) down(request, state);
  return {{"ok", true}, {"ends", ends}};
}

json AdminServer::down(const json&, AdminConnectionState& state) {
  surroundings_.shut_down(memory::Descriptor(fcntl(state.socket, F_DUPFD_CLOEXEC, 0)));
  return {{"ok", true}};
}

}  // namespace urnic::control
