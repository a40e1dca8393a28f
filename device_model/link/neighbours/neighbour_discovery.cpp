#include "device_model/link/neighbours/neighbour_discovery.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "wire/ethernet.hpp"
#include "wire/network_headers.hpp"

namespace urnic::link {

namespace {

constexpr wire::Gid kAllNodes{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr wire::Gid kUnspecified{};
constexpr wire::Gid kUnspecifiedIpv4{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}};

bool names_one_device(const wire::Gid& gid) {
  return gid != kUnspecified && gid != kUnspecifiedIpv4 && !wire::is_multicast(gid);
}

bool names_one_device(const wire::MacAddress& mac) {
  return (mac.bytes[0] & 1) == 0 && mac != wire::MacAddress{};
}

int common_bits(const wire::Gid& a, const wire::Gid& b) {
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const auto differing = static_cast<std::uint8_t>(a.bytes[i] ^ b.bytes[i]);
    if (differing != 0) return static_cast<int>(i) * 8 + std::countl_zero(differing);
  }
  return 128;
}

}  // namespace

void NeighbourDiscovery::set_addresses(std::vector<OwnAddress> addresses) {
  const std::lock_guard lock(mutex_);
  addresses_ = std::move(addresses);
}

const OwnAddress* NeighbourDiscovery::own(const wire::Gid& gid) const {
  const auto found =
      std::find_if(addresses_.begin(), addresses_.end(), [&](const auto& own) { return own.gid == gid; });
  return found != addresses_.end() ? &*found : nullptr;
}

// The own address that is most probably on the same network as `gid`: with the longest common prefix. Null:
// none of its family.
const OwnAddress* NeighbourDiscovery::nearest_own(const wire::Gid& gid) const {
  const OwnAddress* nearest = nullptr;
  for (const OwnAddress& own : addresses_) {
    if (wire::is_ipv4_mapped(own.gid) != wire::is_ipv4_mapped(gid)) continue;
    if (nearest == nullptr || common_bits(own.gid, gid) > common_bits(nearest->gid, gid)) nearest = &own;
  }
  return nearest;
}

void NeighbourDiscovery::note_due() { due_.store(table_.next_due().value_or(kNever)); }

std::optional<transport::Time> NeighbourDiscovery::next_due() const {
  const transport::Time due = due_.load();
  return due == kNever ? std::nullopt : std::optional(due);
}

Neighbour NeighbourDiscovery::find(const wire::Gid& gid) {
  Neighbour found;
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    if (!names_one_device(gid) || own(gid) != nullptr || nearest_own(gid) == nullptr) return {};
    const transport::Time now = clock_();
    found = table_.look_up(gid, now);
    note_due();
    asks = due_.load() <= now;
  }
  if (asks) wake_();
  return found;
}

NeighbourTable NeighbourDiscovery::table() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

bool NeighbourDiscovery::receive(std::span<const std::byte> frame, transport::Time now, Sender& to) {
  if (const auto arp = wire::parse_arp(frame)) {
    const std::lock_guard lock(mutex_);
    take(*arp, now, to);
    return true;
  }
  if (const auto message = wire::parse_neighbour(frame)) {
    const std::lock_guard lock(mutex_);
    take(*message, now, to);
    return true;
  }
  return false;
}

// Another device that claims an own address is not believed.
void NeighbourDiscovery::hear(const wire::Gid& gid, const wire::MacAddress& mac,
                              const NeighbourTable::News& news, transport::Time now) {
  if (!names_one_device(gid) || !names_one_device(mac) || own(gid) != nullptr) return;
  table_.hear(gid, mac, news, now);
  note_due();
}

void NeighbourDiscovery::take(const wire::Arp& arp, transport::Time now, Sender& to) {
  const OwnAddress* const asked = own(arp.target);
  const bool reply = arp.operation == wire::ArpOperation::reply;
  hear(arp.sender, arp.sender_mac, {.solicited = reply, .add = asked != nullptr && !reply}, now);
  if (reply || asked == nullptr || !names_one_device(arp.sender_mac)) return;
  const wire::Arp answer{wire::ArpOperation::reply, asked->mac, asked->gid, arp.sender_mac, arp.sender};
  to.send(wire::encode_arp(answer, arp.sender_mac));
}

void NeighbourDiscovery::take(const wire::NeighbourMessage& message, transport::Time now, Sender& to) {
  if (message.kind == wire::NeighbourMessageKind::advertisement) {
    if (!message.link_layer) return;
    hear(message.target, *message.link_layer,
         {.solicited = message.solicited, .add = false, .overrides = message.overrides}, now);
    return;
  }
  const OwnAddress* const asked = own(message.target);
  if (asked == nullptr) return;
  if (message.link_layer) hear(message.source, *message.link_layer, {.add = true}, now);
  answer(message, *asked, to);
}

// RFC 4861 7.2.4. A node that looks for duplicates of its address has none yet, so the answer goes to all
// nodes.
void NeighbourDiscovery::answer(const wire::NeighbourMessage& question, const OwnAddress& own,
                                Sender& to) const {
  const bool to_all = question.source == kUnspecified;
  const wire::Gid destination = to_all ? kAllNodes : question.source;
  const wire::MacAddress mac =
      to_all ? wire::multicast_mac(kAllNodes) : question.link_layer.value_or(question.source_mac);
  if (!to_all && !(names_one_device(destination) && names_one_device(mac))) return;
  to.send(wire::encode_neighbour({.kind = wire::NeighbourMessageKind::advertisement,
                                  .destination_mac = mac,
                                  .source_mac = own.mac,
                                  .destination = destination,
                                  .source = own.gid,
                                  .target = own.gid,
                                  .solicited = !to_all,
                                  .overrides = true,
                                  .link_layer = own.mac}));
}

void NeighbourDiscovery::run(transport::Time now, Sender& to) {
  if (due_.load() > now) return;
  const std::lock_guard lock(mutex_);
  for (const NeighbourTable::Question& question : table_.take_questions(now)) ask(question, to);
  note_due();
}

void NeighbourDiscovery::ask(const NeighbourTable::Question& question, Sender& to) const {
  const OwnAddress* const own = nearest_own(question.gid);
  if (own == nullptr) return;
  if (wire::is_ipv4_mapped(question.gid)) {
    const wire::Arp arp{wire::ArpOperation::request, own->mac, own->gid, {}, question.gid};
    to.send(wire::encode_arp(arp, question.mac.value_or(wire::kBroadcastMac)));
    return;
  }
  const wire::Gid group = wire::solicited_node_group(question.gid);
  to.send(wire::encode_neighbour({.kind = wire::NeighbourMessageKind::solicitation,
                                  .destination_mac = question.mac.value_or(wire::multicast_mac(group)),
                                  .source_mac = own->mac,
                                  .destination = question.mac ? question.gid : group,
                                  .source = own->gid,
                                  .target = question.gid,
                                  .solicited = false,
                                  .overrides = false,
                                  .link_layer = own->mac}));
}

}  // namespace urnic::link
