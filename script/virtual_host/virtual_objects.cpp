// The program's objects in a virtual host: made, changed, destroyed.
#include <algorithm>
#include <bit>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"
#include "script/virtual_host/virtual_host.hpp"

namespace urnic::script {
namespace {

using transport::QpService;
using transport::QpState;

// Regions begin at round addresses, far from each other.
constexpr std::uint64_t kFirstAddress = 0x100000;
constexpr std::uint64_t kMostRegionBytes = 64 << 20;
constexpr std::uint32_t kMostSlots = 1024;
constexpr std::uint32_t kSlotSize = 512;

// The kinds of queue pairs, by the values of ibv_qp_type.
QpService service_of(std::uint64_t type) {
  switch (type) {
    case 3:
      return QpService::uc;
    case 4:
      return QpService::ud;
    case 9:
      return QpService::xrc_initiator;
    case 10:
      return QpService::xrc_target;
    default:
      return QpService::rc;
  }
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
  transport::QpParameters parameters;
  parameters.access = access_of(call.number("access"));
  parameters.path_mtu = static_cast<std::uint32_t>(call.number("mtu"));
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

}  // namespace

Answer VirtualHost::make_region(const Call& call) {
  const std::uint64_t length = call.number("length");
  if (length == 0 || length > kMostRegionBytes) return refused("EINVAL: a region has 1 byte to 64 MiB");
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
  const auto key =
      device_.memory_table().add_window(context_.pd, static_cast<std::uint32_t>(call.number("type", 2)));
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
  const auto number =
      device_.address_handles().add(std::make_unique<engine::AddressHandle>(context_.pd, path_from_device()));
  if (!number) return refused("ENOMEM: there are no more address handles");
  address_handles_[call.object] = *number;
  return {};
}

Answer VirtualHost::make_queue_pair(const Call& call) {
  if (call.has("attach")) return refused("EINVAL: queue pairs of other programs are there in live runs only");
  VirtualQueuePair& made = queue_pairs_[call.object];
  made.service = service_of(call.number("service"));
  made.parameters = parameters_of(call);
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
          .recovery = {.mode = static_cast<transport::RecoveryMode>(call.number("recovery"))}});
  made.end->install();
  const auto last = static_cast<QpState>(call.number("state"));
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
    if (state > last) break;
    const bool has_path = made.service != QpService::ud && state != QpState::init;
    made.end->device_end().modify(state, made.parameters,
                                  has_path ? std::optional(path_from_device()) : std::nullopt);
    made.end->device_end().after_input();
  }
  return {.numbers = {{"qpn", made.end->qpn().value}}};
}

Answer VirtualHost::modify(const Call& call) {
  VirtualQueuePair& queue_pair = queue_pairs_.at(call.object);
  transport::QpParameters& parameters = queue_pair.parameters;
  if (call.has("access")) parameters.access = access_of(call.number("access"));
  if (call.has("min_rnr_timer"))
    parameters.min_rnr_timer = static_cast<std::uint8_t>(call.number("min_rnr_timer"));
  const auto state = static_cast<QpState>(call.number("state"));
  const bool has_path = state == QpState::rtr && queue_pair.service != QpService::ud;
  if (state == QpState::reset) {
    queue_pair.send_ids.clear();
    queue_pair.receive_ids.clear();
    queue_pair.end->send_producer = queue_pair.end->receive_producer = 0;
    queue_pair.end->indices.send_producer = 0;
    queue_pair.end->indices.receive_producer = 0;
  }
  queue_pair.end->device_end().modify(state, parameters,
                                      has_path ? std::optional(path_from_device()) : std::nullopt,
                                      call.number("notify") != 0);
  queue_pair.end->device_end().after_input();
  return {};
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
