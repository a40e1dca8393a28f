#include "device_model/link/neighbours/neighbour_discovery.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>
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

// The longest message that is looked at: more than any with the options that RFC 4861 has for it.
constexpr std::size_t kMostMessageBytes = 256;

// Copies the frame without its tag. Empty: it is longer than any message.
std::span<const std::byte> without_tag(std::span<const std::byte> frame,
                                       std::array<std::byte, kMostMessageBytes>& copy) {
  const std::size_t size = frame.size() - wire::kVlanTagBytes;
  if (size > copy.size()) return {};
  const auto behind = frame.subspan(wire::kEtherTypeOffset + wire::kVlanTagBytes);
  std::memcpy(copy.data(), frame.data(), wire::kEtherTypeOffset);
  std::copy(behind.begin(), behind.end(), copy.begin() + wire::kEtherTypeOffset);
  return std::span(copy).first(size);
}

// In this VLAN; 0: in none.
void send(std::span<const std::byte> frame, std::uint16_t vlan, NeighbourDiscovery::Sender& to) {
  if (vlan == 0) return to.send(frame);
  std::array<std::byte, kMostMessageBytes + wire::kVlanTagBytes> tagged;
  const auto behind = frame.subspan(wire::kEtherTypeOffset);
  std::memcpy(tagged.data(), frame.data(), wire::kEtherTypeOffset);
  wire::store_be16(tagged.data() + wire::kEtherTypeOffset, wire::ether_type::kVlan);
  wire::store_be16(tagged.data() + wire::kEtherTypeOffset + 2, vlan);
  std::copy(behind.begin(), behind.end(), tagged.begin() + wire::kEtherTypeOffset + wire::kVlanTagBytes);
  to.send(std::span(tagged).first(frame.size() + wire::kVlanTagBytes));
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
  std::array<std::uint64_t, std::tuple_size_v<decltype(vlans_)>> vlans{};
  for (const OwnAddress& own : addresses) vlans[own.vlan / 64] |= std::uint64_t{1} << own.vlan % 64;
  const std::lock_guard lock(mutex_);
  addresses_ = std::move(addresses);
  for (std::size_t i = 0; i < vlans.size(); ++i) vlans_[i].store(vlans[i], std::memory_order_relaxed);
}

bool NeighbourDiscovery::is_in(std::uint16_t vlan) const {
  return (vlans_[vlan / 64].load(std::memory_order_relaxed) >> vlan % 64 & 1) != 0;
}

NeighbourTable& NeighbourDiscovery::table_of(std::uint16_t vlan) {
  return tables_.try_emplace(vlan, times_).first->second;
}

const OwnAddress* NeighbourDiscovery::own(const wire::Gid& gid, std::uint16_t vlan) const {
  const auto found = std::find_if(addresses_.begin(), addresses_.end(),
                                  [&](const auto& own) { return own.gid == gid && own.vlan == vlan; });
  return found != addresses_.end() ? &*found : nullptr;
}

// The own address that is most probably on the same network as `gid`: with the longest common prefix. Null:
// none of its family in this VLAN.
const OwnAddress* NeighbourDiscovery::nearest_own(const wire::Gid& gid, std::uint16_t vlan) const {
  const OwnAddress* nearest = nullptr;
  for (const OwnAddress& own : addresses_) {
    if (own.vlan != vlan || wire::is_ipv4_mapped(own.gid) != wire::is_ipv4_mapped(gid)) continue;
    if (nearest == nullptr || common_bits(own.gid, gid) > common_bits(nearest->gid, gid)) nearest = &own;
  }
  return nearest;
}

void NeighbourDiscovery::note_due() {
  transport::Time due = kNever;
  for (const auto& [vlan, table] : tables_) due = std::min(due, table.next_due().value_or(kNever));
  due_.store(due);
}

std::optional<transport::Time> NeighbourDiscovery::next_due() const {
  const transport::Time due = due_.load();
  return due == kNever ? std::nullopt : std::optional(due);
}

Neighbour NeighbourDiscovery::find_in(std::uint16_t vlan, const wire::Gid& gid) {
  Neighbour found;
  bool asks = false;
  {
    const std::lock_guard lock(mutex_);
    if (!names_one_device(gid) || own(gid, vlan) != nullptr || nearest_own(gid, vlan) == nullptr) return {};
    const transport::Time now = clock_();
    found = table_of(vlan).look_up(gid, now);
    note_due();
    asks = due_.load() <= now;
  }
  if (asks) wake_();
  return found;
}

std::map<std::uint16_t, NeighbourTable> NeighbourDiscovery::tables() const {
  const std::lock_guard lock(mutex_);
  return tables_;
}

// What others say in a VLAN is nobody's business here, unless an own address is in it.
bool NeighbourDiscovery::receive(std::span<const std::byte> frame, transport::Time now, Sender& to) {
  std::array<std::byte, kMostMessageBytes> copy;
  std::uint16_t vlan = 0;
  if (wire::has_vlan_tag(frame)) [[unlikely]] {
    vlan = wire::load_be16(frame.data() + wire::kEthernetBytes) & wire::kVlanIdMask;
    if (vlan != 0 && !is_in(vlan)) return false;
    frame = without_tag(frame, copy);
    if (frame.empty()) return false;
  }
  if (const auto arp = wire::parse_arp(frame)) {
    const std::lock_guard lock(mutex_);
    take(*arp, vlan, now, to);
    return true;
  }
  if (const auto message = wire::parse_neighbour(frame)) {
    const std::lock_guard lock(mutex_);
    take(*message, vlan, now, to);
    return true;
  }
  return false;
}

// Another device that claims an own address is not believed.
void NeighbourDiscovery::hear(const wire::Gid& gid, const wire::MacAddress& mac, std::uint16_t vlan,
                              const NeighbourTable::News& news, transport::Time now) {
  if (!names_one_device(gid) || !names_one_device(mac) || own(gid, vlan) != nullptr) return;
  table_of(vlan).hear(gid, mac, news, now);
  note_due();
}

void NeighbourDiscovery::take(const wire::Arp& arp, std::uint16_t vlan, transport::Time now, Sender& to) {
  const OwnAddress* const asked = own(arp.target, vlan);
  const bool reply = arp.operation == wire::ArpOperation::reply;
  hear(arp.sender, arp.sender_mac, vlan, {.solicited = reply, .add = asked != nullptr && !reply}, now);
  if (reply || asked == nullptr || !names_one_device(arp.sender_mac)) return;
  const wire::Arp answer{wire::ArpOperation::reply, asked->mac, asked->gid, arp.sender_mac, arp.sender};
  link::send(wire::encode_arp(answer, arp.sender_mac), vlan, to);
}

void NeighbourDiscovery::take(const wire::NeighbourMessage& message, std::uint16_t vlan, transport::Time now,
                              Sender& to) {
  if (message.kind == wire::NeighbourMessageKind::advertisement) {
    if (!message.link_layer) return;
    hear(message.target, *message.link_layer, vlan,
         {.solicited = message.solicited, .add = false, .overrides = message.overrides}, now);
    return;
  }
  const OwnAddress* const asked = own(message.target, vlan);
  if (asked == nullptr) return;
  if (message.link_layer) hear(message.source, *message.link_layer, vlan, {.add = true}, now);
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
  const auto frame = wire::encode_neighbour({.kind = wire::NeighbourMessageKind::advertisement,
                                             .destination_mac = mac,
                                             .source_mac = own.mac,
                                             .destination = destination,
                                             .source = own.gid,
                                             .target = own.gid,
                                             .solicited = !to_all,
                                             .overrides = true,
                                             .link_layer = own.mac});
  link::send(frame, own.vlan, to);
}

void NeighbourDiscovery::run(transport::Time now, Sender& to) {
  if (due_.load() > now) return;
  const std::lock_guard lock(mutex_);
  for (auto& [vlan, table] : tables_)
    for (const NeighbourTable::Question& question : table.take_questions(now)) ask(question, vlan, to);
  note_due();
}

void NeighbourDiscovery::ask(const NeighbourTable::Question& question, std::uint16_t vlan, Sender& to) const {
  const OwnAddress* const own = nearest_own(question.gid, vlan);
  if (own == nullptr) return;
  if (wire::is_ipv4_mapped(question.gid)) {
    const wire::Arp arp{wire::ArpOperation::request, own->mac, own->gid, {}, question.gid};
    return link::send(wire::encode_arp(arp, question.mac.value_or(wire::kBroadcastMac)), vlan, to);
  }
  const wire::Gid group = wire::solicited_node_group(question.gid);
  const auto frame =
      wire::encode_neighbour({.kind = wire::NeighbourMessageKind::solicitation,
                              .destination_mac = question.mac.value_or(wire::multicast_mac(group)),
                              .source_mac = own->mac,
                              .destination = question.mac ? question.gid : group,
                              .source = own->gid,
                              .target = question.gid,
                              .solicited = false,
                              .overrides = false,
                              .link_layer = own->mac});
  link::send(frame, vlan, to);
}

}  // namespace urnic::link
