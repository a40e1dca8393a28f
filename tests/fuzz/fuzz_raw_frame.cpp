// Any bytes as a frame that steering rules give to raw packet queue pairs. Nothing is read behind the bytes.
// A longer piece of a frame shows all that a shorter one showed. A rule for exactly this frame takes it. A
// hash depends only on the fields that it is asked for. Checksums that are made change their own bytes alone,
// and what was right stays so.
//
// An input is one byte, the length of the shorter piece, and the frame.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "device_model/engine/steering/frame_headers.hpp"
#include "device_model/engine/steering/rss_table.hpp"
#include "device_model/engine/steering/steering_table.hpp"
#include "tests/fuzz/require.hpp"
#include "wire/frame_checksums.hpp"

namespace {

using urnic::engine::FrameHeaders;
using urnic::engine::FrameMatch;
using urnic::engine::SteeringRule;
using urnic::engine::SteeringTable;
using urnic::engine::SteeringTarget;
using urnic::engine::ToeplitzKey;
using urnic::fuzz::require;

// In memory of exactly this length, so that the sanitizer sees a read behind it.
std::vector<std::byte> exact_copy(std::span<const std::uint8_t> frame) {
  std::vector<std::byte> bytes(frame.size());
  if (!frame.empty()) std::memcpy(bytes.data(), frame.data(), frame.size());
  return bytes;
}

FrameHeaders headers_of(std::span<const std::uint8_t> frame) {
  return urnic::engine::read_headers(exact_copy(frame));
}

void check_growth(const FrameHeaders& piece, const FrameHeaders& whole) {
  require((piece.layers & ~whole.layers) == 0, "a longer piece has fewer headers");
  if ((piece.layers & urnic::engine::layer_vlan) != 0) {
    require(piece.fields.vlan_tag == whole.fields.vlan_tag, "the VLAN tag changed");
  }
  if ((piece.layers & urnic::engine::layer_ipv4) != 0) {
    require(piece.fields.ipv4_source == whole.fields.ipv4_source, "the IPv4 source changed");
    require(piece.fields.ipv4_protocol == whole.fields.ipv4_protocol, "the IPv4 protocol changed");
  }
  if ((piece.layers & urnic::engine::layer_ipv6) != 0) {
    require(piece.fields.ipv6_destination == whole.fields.ipv6_destination, "the IPv6 destination changed");
  }
  if ((piece.layers & (urnic::engine::layer_tcp | urnic::engine::layer_udp)) != 0) {
    require(piece.fields.source_port == whole.fields.source_port, "the source port changed");
    require(piece.fields.destination_port == whole.fields.destination_port, "the destination port changed");
  }
}

void check_layers(const FrameHeaders& frame) {
  const auto has = [&](unsigned layers) { return (frame.layers & layers) == layers; };
  require(!has(urnic::engine::layer_ipv4 | urnic::engine::layer_ipv6), "IPv4 and IPv6 at once");
  require(!has(urnic::engine::layer_tcp | urnic::engine::layer_udp), "TCP and UDP at once");
  const bool has_ports = has(urnic::engine::layer_tcp) || has(urnic::engine::layer_udp);
  require(!has_ports || has(urnic::engine::layer_ipv4) || has(urnic::engine::layer_ipv6),
          "ports of no datagram");
}

bool is_steered(const FrameMatch& match, const FrameHeaders& frame) {
  SteeringTable table;
  SteeringRule rule;
  rule.match = match;
  table.add(rule);
  std::vector<SteeringTarget> targets;
  table.reserve(targets);
  const bool taken =
      table.steer(frame, urnic::engine::RuleKind::normal, urnic::engine::RuleKind::normal, targets);
  require(targets.size() == (taken ? 1u : 0u), "taken by nobody, or twice");
  return taken;
}

void check_steering(const FrameHeaders& frame) {
  FrameMatch match;
  match.value = frame.fields;
  std::memset(&match.mask, 0xFF, sizeof match.mask);
  match.layers = frame.layers;
  require(is_steered(match, frame), "a rule for this frame does not take it");
  match.value.destination_mac[5] ^= 1;
  require(!is_steered(match, frame), "a rule for another address takes it");
  match.value = frame.fields;
  match.layers = static_cast<std::uint8_t>(~frame.layers & (urnic::engine::layer_udp * 2 - 1));
  require(match.layers == 0 || !is_steered(match, frame), "a rule for headers that it lacks takes it");
}

void check_hash(FrameHeaders frame) {
  ToeplitzKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(0x6D + 41 * i);
  const std::uint32_t all = urnic::engine::toeplitz_hash(key, urnic::engine::kHashFields, frame);
  require(urnic::engine::toeplitz_hash(key, 0, frame) == 0, "a hash of no field");
  frame.fields.source_mac[0] ^= 1;
  frame.fields.ipv4_ttl ^= 1;
  frame.fields.ipv6_hop_limit ^= 1;
  require(urnic::engine::toeplitz_hash(key, urnic::engine::kHashFields, frame) == all,
          "a field that was not asked for changes the hash");
}

void check_checksums(std::span<const std::uint8_t> frame) {
  const std::vector<std::byte> before = exact_copy(frame);
  std::vector<std::byte> made = before;
  const auto was_right = urnic::wire::right_checksums(before);
  urnic::wire::fill_checksums(made, {true, true});
  const auto is_right = urnic::wire::right_checksums(made);
  require(is_right.network || !was_right.network, "the IP header's checksum was right");
  require(is_right.transport || !was_right.transport, "the checksum of TCP or UDP was right");
  std::size_t changed = 0;
  for (std::size_t i = 0; i < made.size(); ++i) changed += made[i] != before[i] ? 1 : 0;
  require(changed <= 4, "more than two checksums have changed");
  std::vector<std::byte> again = made;
  urnic::wire::fill_checksums(again, {true, true});
  require(again == made, "another checksum of the same frame");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::uint8_t> frame(data + 1, size - 1);
  const FrameHeaders whole = headers_of(frame);
  check_growth(headers_of(frame.first(data[0] % (frame.size() + 1))), whole);
  check_layers(whole);
  check_steering(whole);
  check_hash(whole);
  check_checksums(frame);
  return 0;
}
