// The program's objects in a virtual host: made, changed, destroyed.
#include <algorithm>
#include <bit>
#include <optional>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "script/queue_pair_attributes.hpp"
#include "script/virtual_host/virtual_host.hpp"

namespace urnic::script {
namespace {

using transport::QpService;
using transport::QpState;

// Regions begin at round addresses, far from each other.
constexpr std::uint64_t kFirstAddress = 0x100000;
constexpr std::uint64_t kMostRegionBytes = 16 << 20;
constexpr std::uint32_t kMostSlots = 1024;
constexpr std::uint32_t kSlotSize = 512;

// The kinds of queue pairs, by the values of ibv_qp_type; nothing for a type that a program cannot make.
std::optional<QpService> service_of(std::uint64_t type) {
  switch (type) {
    case 2:
      return QpService::rc;
    case 3:
      return QpService::uc;
    case 4:
      return QpService::ud;
    case 9:
      return QpService::xrc_initiator;
    case 10:
      return QpService::xrc_target;
    default:
      return std::nullopt;
  }
}

// The state that the call asks for; nothing if there is no such state.
std::optional<QpState> state_of(const Call& call) {
  const std::uint64_t number = call.number("state");
  if (number > static_cast<std::uint64_t>(QpState::error)) return std::nullopt;
  return static_cast<QpState>(number);
}

std::uint32_t slots_for(std::uint64_t wanted) {
  return std::bit_ceil(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, kMostSlots)));
}

transport::QpAccess access_of(std::uint64_t flags) {
  return {.remote_read = (flags & memory::access_remote_read) != 0,
          .remote_write = (flags & memory::access_remote_write) != 0,
          .remote_atomic = (flags & memory::access_remote_atomic) != 0};
}

transport::QpParameters parameters_of(const Call& call) {
  constexpr std::uint32_t kLargestMtu = 4096;
  transport::QpParameters parameters;
  parameters.access = access_of(call.number("access"));
  // A datagram queue pair has no path of its own: the port's MTU limits its messages.
  const bool is_datagram = service_of(call.number("service")) == QpService::ud;
  parameters.path_mtu = is_datagram ? kLargestMtu : static_cast<std::uint32_t>(call.number("mtu"));
  parameters.destination = wire::Qpn{static_cast<std::uint32_t>(call.number("peer_qpn"))};
  parameters.receive_psn = wire::Psn(static_cast<std::uint32_t>(call.number("rq_psn")));
  parameters.send_psn = wire::Psn(static_cast<std::uint32_t>(call.number("sq_psn")));
  parameters.max_destination_reads = static_cast<std::uint8_t>(call.number("max_dest_reads"));
  parameters.max_reads = static_cast<std::uint8_t>(call.number("max_reads"));
  parameters.min_rnr_timer = static_cast<std::uint8_t>(call.number("min_rnr_timer"));
  parameters.timeout = static_cast<std::uint8_t>(call.number("timeout"));
  parameters.retry_count = static_cast<std::uint8_t>(call.number("retry"));
  parameters.rnr_retry = static_cast<std::uint8_t>(call.number("rnr_retry"));
  parameters.qkey = static_cast<std::uint32_t>(call.number("qkey"));
  return parameters;
}

Answer refused(std::string why) { return {.refusal = std::move(why)}; }

const char* const kNoServiceLevel = "EINVAL: a service level is 0 to 15";
bool has_service_level(const Call& call) { return call.number("sl") <= 15; }

}  // namespace

Answer VirtualHost::make_region(const Call& call) {
  const std::uint64_t length = call.number("length");
  if (length == 0 || length > kMostRegionBytes) return refused("EINVAL: a region has 1 byte to 16 MiB");
  VirtualRegion& region = regions_[call.object];
  region.bytes.resize(length);
  memory_.add_range(region.bytes);
  region.address = kFirstAddress + next_region_;
  next_region_ += std::bit_ceil(length) + kFirstAddress;
  const auto key =
      device_.memory_table().add_region({.memory = &memory_,
                                         .pd = context_.pd,
                                         .address = reinterpret_cast<std::uintptr_t>(region.bytes.data()),
                                         .iova = region.address,
                                         .length = length,
                                         .access = static_cast<std::uint32_t>(call.number("access"))});
  if (!key) return refused("ENOMEM: there are no more keys");
  region.key = *key;
  return {
      .numbers = {{"addr", region.address}, {"length", length}, {"lkey", key->value}, {"rkey", key->value}}};
}

Answer VirtualHost::make_window(const Call& call) {
  const std::uint64_t type = call.number("type", 2);
  if (type != 1 && type != 2) return refused("EINVAL: a memory window's type is 1 or 2");
  const auto key = device_.memory_table().add_window(context_.pd, static_cast<std::uint32_t>(type));
  if (!key) return refused("ENOMEM: there are no more keys");
  windows_[call.object].rkey = *key;
  return {.numbers = {{"rkey", key->value}}};
}

Answer VirtualHost::make_shared_receives(const Call& call) {
  const bool xrc = call.number("kind") != 0;
  VirtualSharedReceives& receives = shared_receives_[call.object];
  if (xrc)
    receives.cq = std::make_unique<in_process::CompletionQueueEnd>(
        256, &context_.channel.device_end(), &context_.async_events.device_end(), next_doorbell_++);
  const std::uint32_t slots = slots_for(call.number("max_recv", 64));
  receives.end = std::make_unique<in_process::SharedReceivesEnd>(
      context_, slots, context_.pd, xrc ? &xrc_domain_ : nullptr,
      xrc ? receives.cq->device_end.get() : nullptr);
  receives.end->device_end->install();
  receives.wr_ids.resize(slots);
  for (std::uint32_t slot = 0; slot < slots; ++slot) receives.free_slots.push_back(slot);
  return {.numbers = {{"number", receives.end->device_end->number()}}};
}

Answer VirtualHost::make_address_handle(const Call& call) {
  if (!has_service_level(call)) return refused(kNoServiceLevel);
  const auto number = device_.address_handles().add(
      std::make_unique<engine::AddressHandle>(context_.pd, path_from_device(call)));
  if (!number) return refused("ENOMEM: there are no more address handles");
  address_handles_[call.object] = *number;
  return {};
}

Answer VirtualHost::make_queue_pair(const Call& call) {
  if (call.has("attach")) return refused("EINVAL: queue pairs of other programs are there in live runs only");
  if (!has_service_level(call)) return refused(kNoServiceLevel);
  const auto service = service_of(call.number("service"));
  const auto last = state_of(call);
  if (!service) return refused("EINVAL: there is no such service");
  if (!last) return refused("EINVAL: there is no such state");
  VirtualQueuePair made;
  made.made_by = call;
  made.service = *service;
  const bool is_target = made.service == QpService::xrc_target;
  const bool shares = call.names.contains("srq");
  if (shares) made.shared_receives = &shared_receives_.at(call.names.at("srq"));
  const bool has_receives = !shares && !transport::is_xrc(made.service);
  made.end = std::make_unique<in_process::QueuePairEnd>(
      context_, next_doorbell_++,
      in_process::QueuePairLayout{
          .send_slots = is_target ? 0 : slots_for(call.number("max_send", 64)),
          .send_slot_size = kSlotSize,
          .receive_slots = has_receives ? slots_for(call.number("max_recv", 64)) : 0,
          .service = made.service,
          .srq = shares ? made.shared_receives->end->device_end.get() : nullptr,
          .xrc_domain = is_target ? &xrc_domain_ : nullptr,
          .recovery = {.mode = static_cast<transport::RecoveryMode>(call.number("recovery") & 3)}});
  made.end->install();
  made.end->device_end().set_congestion(
      {.algorithm = static_cast<transport::CongestionAlgorithm>(call.number("congestion") & 3)});
  VirtualQueuePair& queue_pair = queue_pairs_[call.object] = std::move(made);
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts, *last}) {
    if (state > *last || queue_pair.end->device_end().state() == *last) continue;
    if (Answer answer = move_to(queue_pair, state, call); !answer.refusal.empty()) return answer;
  }
  return {.numbers = {{"qpn", queue_pair.end->qpn().value}}};
}

// As the control thread checks it.
Answer VirtualHost::move_to(VirtualQueuePair& queue_pair, QpState state, const Call& call) {
  engine::QueuePairContext& device_end = queue_pair.end->device_end();
  const QpState current = device_end.state();
  const bool notify = call.number("notify") != 0;
  const std::uint32_t mask = attribute_mask(call.number("service"), static_cast<std::uint64_t>(current),
                                            static_cast<std::uint64_t>(state), notify);
  const auto number = [&](const char* name) { return static_cast<std::uint32_t>(call.number(name)); };
  const transport::QpAttributeValues values{.path_mtu = mtu_code(call.number("mtu")),
                                            .timeout = number("timeout"),
                                            .retry_count = number("retry"),
                                            .rnr_retry = number("rnr_retry"),
                                            .min_rnr_timer = number("min_rnr_timer"),
                                            .max_qp_rd_atomic = number("max_reads"),
                                            .max_dest_rd_atomic = number("max_dest_reads"),
                                            .port = 1,
                                            .pkey_index = 0};
  if (transport::check_transition(queue_pair.service, current, state, mask).error !=
          transport::TransitionError::none ||
      transport::bad_values(mask, values, {}) != 0)
    return refused("EINVAL: ibv_modify_qp");
  const bool has_path = state == QpState::rtr && queue_pair.service != QpService::ud;
  device_end.modify(state, parameters_of(call),
                    has_path ? std::optional(path_from_device(call)) : std::nullopt, notify);
  device_end.after_input();
  return {};
}

// Attributes that the call does not have are those with which the queue pair was made.
Answer VirtualHost::modify(const Call& call) {
  VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
  Call merged = queue_pair.made_by;
  for (const auto& [name, value] : call.numbers) merged.numbers[name] = value;
  const auto state = state_of(call);
  if (!state) return refused("EINVAL: there is no such state");
  if (*state == QpState::reset) {
    queue_pair.send_ids.clear();
    queue_pair.receive_ids.clear();
    queue_pair.sends_done = queue_pair.receives_done = 0;
    queue_pair.end->send_producer = queue_pair.end->receive_producer = 0;
    queue_pair.end->indices.send_producer = 0;
    queue_pair.end->indices.receive_producer = 0;
  }
  return move_to(queue_pair, *state, merged);
}

Answer VirtualHost::destroy(const Call& call) {
  if (const auto queue_pair = queue_pairs_.find(call.object); queue_pair != queue_pairs_.end()) {
    queue_pair->second.end->remove();
    queue_pairs_.erase(queue_pair);
  } else if (const auto region = regions_.find(call.object); region != regions_.end()) {
    if (!device_.memory_table().remove_region(region->second.key))
      return refused("EBUSY: a window is bound to it");
    memory_.remove_range(region->second.bytes);  // the entry stays: its key may still be used
  } else if (const auto window = windows_.find(call.object); window != windows_.end()) {
    device_.memory_table().remove_window(window->second.rkey);
    windows_.erase(window);
  } else if (const auto handle = address_handles_.find(call.object); handle != address_handles_.end()) {
    device_.address_handles().remove(handle->second);
    address_handles_.erase(handle);
  } else {
    return refused("EINVAL: a shared receive queue stays until the script's end");
  }
  return {};
}

}  // namespace urnic::script
