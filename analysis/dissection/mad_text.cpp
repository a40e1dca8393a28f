#include "analysis/dissection/mad_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/dissection/mad_names.hpp"
#include "wire/mad/rmpp.hpp"
#include "wire/mad/smp.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::analysis {
namespace {

using wire::mad::RmppType;

std::string route_text(const wire::mad::Smp& smp) {
  std::string path;
  // More hops than there are places are nobody's.
  const std::size_t hops = std::min<std::size_t>(smp.hop_count, wire::mad::kMostHops);
  for (std::size_t hop = 1; hop <= hops; ++hop)
    path += fmt::format("{}{}", path.empty() ? "" : ",", std::to_integer<unsigned>(smp.initial_path[hop]));
  return fmt::format(" Path={} Hop={}/{}{}", path.empty() ? "none" : path, smp.hop_pointer, smp.hop_count,
                     smp.is_returning ? " Returning" : "");
}

// IBTA 13.6.2.1.
std::string part_text(const wire::mad::RmppHeader& rmpp) {
  switch (rmpp.type) {
    case RmppType::none:
      return {};
    case RmppType::data:
      return fmt::format(" RMPP=DATA,{}{}", rmpp.segment, rmpp.last ? ",last" : "");
    case RmppType::acknowledgement:
      return fmt::format(" RMPP=ACK,{} Window={}", rmpp.segment, rmpp.length_or_window);
    case RmppType::stop:
      return fmt::format(" RMPP=STOP Reason={}", static_cast<unsigned>(rmpp.status));
    case RmppType::abort:
      return fmt::format(" RMPP=ABORT Reason={}", static_cast<unsigned>(rmpp.status));
  }
  return fmt::format(" RMPP={:#x}", static_cast<unsigned>(rmpp.type));
}

// What the class adds to the header of all datagrams.
std::string class_text(std::span<const std::byte> mad, const wire::mad::MadHeader& header) {
  std::string text;
  wire::mad::Smp smp;
  wire::mad::VendorMad vendor;
  wire::mad::RmppHeader rmpp;
  if (decode(mad, smp) == wire::mad::MadError::none && smp.is_directed()) text += route_text(smp);
  if (decode(mad, vendor) == wire::mad::MadError::none) text += fmt::format(" OUI={:#08x}", vendor.oui.value);
  if (has_rmpp(header.management_class) && decode(mad, rmpp) == wire::mad::MadError::none && rmpp.active)
    text += part_text(rmpp);
  return text;
}

// Of a directed route the highest bit of the status says that it returns (IBTA 14.2.1.2).
unsigned status_of(const wire::mad::MadHeader& header) {
  constexpr unsigned kDirectedStatus = 0x7FFF;
  const auto status = static_cast<unsigned>(header.status);
  const bool is_directed = header.management_class == wire::mad::ManagementClass::subnet_directed_route;
  return is_directed ? status & kDirectedStatus : status;
}

}  // namespace

std::string mad_text(std::span<const std::byte> mad) {
  wire::mad::MadHeader header;
  if (decode(mad, header) != wire::mad::MadError::none) return {};
  std::string text = mad_name({header.management_class, header.method, header.attribute});
  if (header.attribute_modifier != 0) text += fmt::format(" Modifier={:#x}", header.attribute_modifier);
  if (const unsigned status = status_of(header); status != 0) text += fmt::format(" Status={:#x}", status);
  return text + class_text(mad, header) + fmt::format(" TID={:#x}", header.transaction.value);
}

}  // namespace urnic::analysis
