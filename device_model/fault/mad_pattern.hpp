// Management datagrams by name, as plans give them.
#pragma once

#include <optional>
#include <string_view>

#include "device_model/fault/packet_view.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::fault {

// Of subnet management, `management_class` stands for both of its classes: directed and by LID.
struct MadPattern {
  wire::mad::ManagementClass management_class{};
  wire::mad::Method method{};
  std::optional<wire::mad::AttributeId> attribute{};  // empty: any

  bool matches(const wire::mad::MadHeader& header) const;
};

// "SubnSet(PortInfo)", as urnic trace shows it; without the attribute, "SubnSet", it is all of that method.
// Empty: there is no such name, or its class is another one than Subn, SubnAdm and Performance.
std::optional<MadPattern> mad_pattern(std::string_view name);

// The header of the management datagram that the packet is; empty: it is none.
std::optional<wire::mad::MadHeader> mad_header_of(const link::PacketAtLink& packet, const PacketView& view);

}  // namespace urnic::fault
