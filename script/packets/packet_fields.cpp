#include "script/packets/packet_fields.hpp"

#include <algorithm>

#include "analysis/dissection/field.hpp"
#include "analysis/dissection/header_tables.hpp"
#include "script/language/vocabulary.hpp"

namespace urnic::script {
namespace {

// "psn" of "bth.psn", and all of "immdt".
std::string_view short_name(const analysis::Field& field) {
  const std::string_view whole = field.name;
  return whole.substr(whole.rfind('.') + 1);
}

const analysis::Field* find_short(const analysis::Header& header, std::string_view name) {
  const auto found = std::find_if(header.fields.begin(), header.fields.end(),
                                  [&](const analysis::Field& field) { return short_name(field) == name; });
  return found == header.fields.end() ? nullptr : &*found;
}

bool is_transport(const analysis::Header& header) {
  using namespace analysis;
  for (const Header* const other : {&kEthernetHeader, &kVlanHeader, &kIpv4Header, &kIpv6Header, &kUdpHeader})
    if (other == &header) return false;
  return true;
}

}  // namespace

PacketKind packet_kind(std::string_view word, wire::Service service) {
  const std::uint64_t value = find_value(packet_operations(), word).value_or(0);
  if ((value & kWholeOpcode) != 0) return {wire::Opcode(static_cast<std::uint8_t>(value & 0xFF)), {}};
  if ((value & kCmPacket) == 0) return {{service, static_cast<wire::Operation>(value)}, {}};
  return {{wire::Service::ud, wire::Operation::send_only},
          wire::mad::AttributeId{static_cast<std::uint16_t>(value & ~kCmPacket)}};
}

bool is_packet_field(std::string_view name) {
  if (analysis::find_field(name)) return true;
  const auto all = analysis::all_headers();
  return std::any_of(all.begin(), all.end(), [&](const analysis::Header* header) {
    return is_transport(*header) && find_short(*header, name) != nullptr;
  });
}

std::optional<analysis::PlacedField> find_packet_field(const analysis::Dissection& packet,
                                                       std::string_view name) {
  if (const auto whole = analysis::find_field(name)) return packet.find(*whole);
  for (const analysis::PlacedHeader& placed : packet.headers()) {
    if (!is_transport(*placed.header)) continue;
    if (const analysis::Field* const field = find_short(*placed.header, name))
      return packet.find(analysis::FieldOfHeader{placed.header, field});
  }
  return {};
}

bool is_sequence_number(const analysis::Field& field) {
  const std::string_view name = short_name(field);
  return field.width == 24 && (name == "psn" || name == "msn" || name == "latest");
}

}  // namespace urnic::script
