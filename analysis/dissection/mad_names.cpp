#include "analysis/dissection/mad_names.hpp"

#include <fmt/format.h>

#include <string_view>

#include "analysis/dissection/header_tables.hpp"
#include "wire/mad/mad_names.hpp"

namespace urnic::analysis {
namespace {

using wire::mad::ManagementClass;
using wire::mad::Method;

// "CM REQ: request for communication" is the title of a REQ's header.
std::string connection_message(wire::mad::AttributeId attribute) {
  const Header* const header = cm_header(attribute.value);
  if (header == nullptr) return {};
  const std::string_view title = header->title;
  return std::string(title.substr(0, title.find(':')));
}

std::string prefix_of(ManagementClass management_class) {
  const std::string_view prefix = wire::mad::class_prefix(management_class);
  return prefix.empty() ? fmt::format("class {:#x} ", static_cast<unsigned>(management_class))
                        : std::string(prefix);
}

std::string attribute_of(ManagementClass management_class, wire::mad::AttributeId attribute) {
  if (management_class == ManagementClass::communication)
    if (std::string name = connection_message(attribute); !name.empty()) return name;
  return std::string(wire::mad::attribute_name(management_class, attribute));
}

}  // namespace

std::string mad_name(const MadKind& kind) {
  std::string attribute = attribute_of(kind.management_class, kind.attribute);
  if (kind.management_class == ManagementClass::communication && kind.method == Method::send &&
      cm_header(kind.attribute.value) != nullptr)
    return attribute;
  if (attribute.empty()) attribute = fmt::format("{:#x}", kind.attribute.value);
  std::string method(wire::mad::method_name(kind.method));
  if (method.empty()) method = fmt::format("{:#x}", static_cast<unsigned>(kind.method));
  return fmt::format("{}{}({})", prefix_of(kind.management_class), method, attribute);
}

}  // namespace urnic::analysis
