#include "script/virtual_host/virtual_host.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "script/language/vocabulary.hpp"
#include "script/local_route.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::script {
namespace {

constexpr wire::MacAddress kDeviceMac{{2, 0, 0, 0, 0, 1}};
constexpr wire::MacAddress kScriptMac{{2, 0, 0, 0, 0, 0x99}};

// Of the documentation's network (RFC 5737).
wire::Gid gid(std::uint8_t last) { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, last}}; }

// On InfiniBand a port has a GUID, made of its MAC address, behind the prefix of a subnet without a manager.
wire::Gid gid_of_port(const wire::MacAddress& mac) {
  const auto& of = mac.bytes;
  return {{0xFE, 0x80, 0, 0, 0, 0, 0, 0, of[0], of[1], of[2], 0xFF, 0xFE, of[3], of[4], of[5]}};
}

constexpr wire::Lid kDeviceLid{1};
constexpr wire::Lid kScriptLid{2};
// In the order in which they are attached.
constexpr std::uint32_t kDevicePort = 0;
constexpr std::uint32_t kScriptPort = 1;

engine::DeviceConfig device_config(wire::LinkLayer link_layer) {
  engine::DeviceConfig config;
  config.name = "urnic0";
  config.mac = kDeviceMac;
  config.link_layer = link_layer;
  config.gids = {{.gid = link_layer == wire::LinkLayer::infiniband ? gid_of_port(kDeviceMac) : gid(1)}};
  config.max_qp = 256;
  config.max_memory_keys = 256;
  config.max_srq = 256;
  // Numbers that look like numbers: no seed begins each kind at its lowest.
  config.numbers = memory::NumberSeed(1);
  return config;
}

}  // namespace

VirtualHost::VirtualHost(wire::LinkLayer link_layer)
    : link_layer_(link_layer),
      device_(device_config(link_layer), data_path_, switch_),
      port_(switch_.attach(kScriptMac, *this, "script")),
      context_(device_),
      xrc_domain_(device_.shared_receive_queues()) {
  data_path_.add_uplink(switch_);
  if (link_layer == wire::LinkLayer::infiniband) route();
}

// Two adapters with a cable between them: what a subnet manager would have made of them.
void VirtualHost::route() {
  constexpr std::uint8_t kOnlyPort = 1;
  device_.set_lids({.base = kDeviceLid});
  link::LidNode device{.device = kDevicePort, .lid = kDeviceLid, .ports = std::vector<link::LidPort>(2)};
  link::LidNode script{.device = kScriptPort, .lid = kScriptLid, .ports = std::vector<link::LidPort>(2)};
  device.ports[kOnlyPort] = {kScriptPort, kOnlyPort, true};
  script.ports[kOnlyPort] = {kDevicePort, kOnlyPort, true};
  switch_.lid_routes().set_node(kDevicePort, std::move(device));
  switch_.lid_routes().set_node(kScriptPort, std::move(script));
}

VirtualHost::~VirtualHost() {
  for (auto& [name, queue_pair] : queue_pairs_) queue_pair.end->remove();
  for (auto& [name, receives] : shared_receives_) receives.end->device_end.reset();
}

wire::NetworkHeaders VirtualHost::path_to_device() const {
  wire::NetworkHeaders path;
  if (link_layer_ == wire::LinkLayer::infiniband) {
    path.local = {.destination = kDeviceLid, .source = kScriptLid};
    path.source = gid_of_port(kScriptMac);
    path.destination = gid_of_port(kDeviceMac);
    return path;
  }
  path.source_mac = kScriptMac;
  path.destination_mac = kDeviceMac;
  path.source = gid(0x99);
  path.destination = gid(1);
  path.udp_source = kUdpSource;
  return path;
}

wire::NetworkHeaders VirtualHost::path_from_device(const Call& call) const {
  wire::NetworkHeaders path = path_to_device();
  std::swap(path.source_mac, path.destination_mac);
  std::swap(path.source, path.destination);
  if (path.local) std::swap(path.local->source, path.local->destination);
  set_local_route(call, path);
  return path;
}

// What of a frame crosses the switch; empty: nothing. A port of InfiniBand drops a packet with a wrong VCRC
// and hands on the others without it (IBTA 7.8.2), because each link has its own.
std::optional<std::span<const std::byte>> VirtualHost::at_the_port(std::span<const std::byte> frame) const {
  if (link_layer_ == wire::LinkLayer::ethernet) return frame;
  if (!wire::infiniband::has_right_variant_crc(frame)) return {};
  return frame.first(frame.size() - wire::infiniband::kVariantCrcBytes);
}

// The device is told of a frame from outside of the process, as a wire would tell it.
void VirtualHost::send(std::span<const Bytes> frames) {
  settle();
  for (const Bytes& frame : frames) {
    const link::PacketOrigin origin{.identity = {.count = ++frames_sent_},
                                    .queue_pair = link::kUnknownQpn,
                                    .first_psn = {},
                                    .selective_acks = transport::SelectiveAcks::outside,
                                    .device = kScriptMac};
    if (const auto packet = at_the_port(frame))
      port_.transmit({*packet, {}, {}, nullptr, link_layer_}, origin, now());
  }
  settle();
}

void VirtualHost::arrive(const wire::Frame& frame, const link::PacketOrigin&) {
  SeenFrame seen;
  seen.at = now();
  for (const auto piece : {frame.headers, frame.payload, frame.trailer})
    seen.bytes.insert(seen.bytes.end(), piece.begin(), piece.end());
  if (link_layer_ == wire::LinkLayer::infiniband) wire::infiniband::append_variant_crc(seen.bytes);
  seen_.push_back(std::move(seen));
}

std::optional<SeenFrame> VirtualHost::receive() {
  settle();
  if (seen_.empty()) return {};
  SeenFrame frame = std::move(seen_.front());
  seen_.pop_front();
  return frame;
}

void VirtualHost::settle() {
  std::uint32_t rung = 0;
  do {
    rung = context_.doorbell_set.collect();
    data_path_.round();
  } while (rung != 0 || data_path_.busy());
}

bool VirtualHost::step(Time until) {
  settle();
  if (now() >= until) return false;
  const Time next = std::min(data_path_.wake_at().value_or(until), until);
  data_path_.set_now(std::max(next, now()));
  settle();
  return true;
}

bool VirtualHost::is_known(const std::string& name) const {
  return regions_.contains(name) || windows_.contains(name) || address_handles_.contains(name) ||
         shared_receives_.contains(name) || queue_pairs_.contains(name);
}

Answer VirtualHost::call(const Call& call) {
  settle();
  Answer answer;
  if (spec(call.verb).makes != ObjectKind::none && is_known(call.object)) {
    answer.refusal = "EEXIST: " + call.object;
    return answer;
  }
  try {
    answer = carry_out(call);
  } catch (const std::out_of_range&) {
    answer.refusal = "ENOENT: there is no such object any more";
  }
  settle();
  return answer;
}

Answer VirtualHost::carry_out(const Call& call) {
  switch (call.verb) {
    case Keyword::mr:
      return make_region(call);
    case Keyword::mw:
      return make_window(call);
    case Keyword::srq:
      return make_shared_receives(call);
    case Keyword::ah:
      return make_address_handle(call);
    case Keyword::qp:
      return make_queue_pair(call);
    case Keyword::modify:
      return modify(call);
    case Keyword::destroy:
      return destroy(call);
    case Keyword::post_send:
      return post_send(call);
    case Keyword::post_recv:
      return post_receive(call);
    case Keyword::send_completion:
      return poll_send(call);
    case Keyword::recv_completion:
      return poll_receive(call);
    case Keyword::event:
      return next_event(call);
    case Keyword::arm:
      return arm(call);
    case Keyword::notified:
      return notified(call);
    case Keyword::fill:
      return write_memory(call);
    case Keyword::memory:
      return read_memory(call);
    default:
      return {.refusal = "EINVAL: this is no call"};
  }
}

}  // namespace urnic::script
