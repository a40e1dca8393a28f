// The fields of packets by the names that scripts use: analysis/dissection's, or without the header's name,
// as psn for bth.psn. Such a short name means the first header that has the field, of LRH and GRH and from
// the BTH on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/dissection/dissection.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/opcode.hpp"

namespace urnic::script {

// What a packet's word in a script means, at a queue pair of this service.
struct PacketKind {
  wire::Opcode opcode;
  std::optional<wire::mad::AttributeId> cm_attribute;  // of a message of the connection manager
};
PacketKind packet_kind(std::string_view word, wire::Service service);

// Some packet has such a field.
bool is_packet_field(std::string_view name);
// The field in this packet; empty: it has none.
std::optional<analysis::PlacedField> find_packet_field(const analysis::Dissection& packet,
                                                       std::string_view name);

// A number of 24 bits that begins again at 0, and of which half is ahead and half behind: a PSN or MSN.
bool is_sequence_number(const analysis::Field& field);

}  // namespace urnic::script
