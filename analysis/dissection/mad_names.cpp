#include "analysis/dissection/mad_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analysis/dissection/header_tables.hpp"
#include "wire/mad/vendor.hpp"

namespace urnic::analysis {
namespace {

using wire::mad::ManagementClass;
using wire::mad::Method;

struct Named {
  std::uint16_t number;
  const char* name;
};

// IBTA 13.4.5, 15.2.2.
constexpr Named kMethods[] = {{0x01, "Get"},          {0x02, "Set"},           {0x03, "Send"},
                              {0x05, "Trap"},         {0x06, "Report"},        {0x07, "TrapRepress"},
                              {0x12, "GetTable"},     {0x13, "GetTraceTable"}, {0x14, "GetMulti"},
                              {0x15, "Delete"},       {0x81, "GetResp"},       {0x86, "ReportResp"},
                              {0x92, "GetTableResp"}, {0x94, "GetMultiResp"},  {0x95, "DeleteResp"}};

// IBTA 13.4.8: attributes of every class.
constexpr Named kCommonAttributes[] = {{0x01, "ClassPortInfo"}, {0x02, "Notice"}, {0x03, "InformInfo"}};

// IBTA 14.2.5.
constexpr Named kSubnetAttributes[] = {
    {0x02, "Notice"},
    {0x10, "NodeDescription"},
    {0x11, "NodeInfo"},
    {0x12, "SwitchInfo"},
    {0x14, "GUIDInfo"},
    {0x15, "PortInfo"},
    {0x16, "P_KeyTable"},
    {0x17, "SLtoVLMappingTable"},
    {0x18, "VLArbitrationTable"},
    {0x19, "LinearForwardingTable"},
    {0x1A, "RandomForwardingTable"},
    {0x1B, "MulticastForwardingTable"},
    {0x20, "SMInfo"},
    {0x30, "VendorDiag"},
    {0x31, "LedInfo"},
};

// IBTA 15.2.5.
constexpr Named kRecords[] = {
    {0x11, "NodeRecord"},
    {0x12, "PortInfoRecord"},
    {0x13, "SLtoVLMappingTableRecord"},
    {0x14, "SwitchInfoRecord"},
    {0x15, "LinearForwardingTableRecord"},
    {0x16, "RandomForwardingTableRecord"},
    {0x17, "MulticastForwardingTableRecord"},
    {0x18, "SMInfoRecord"},
    {0x20, "LinkRecord"},
    {0x30, "GUIDInfoRecord"},
    {0x31, "ServiceRecord"},
    {0x33, "P_KeyTableRecord"},
    {0x35, "PathRecord"},
    {0x36, "VLArbitrationTableRecord"},
    {0x38, "MCMemberRecord"},
    {0x39, "TraceRecord"},
    {0x3A, "MultiPathRecord"},
    {0x3B, "ServiceAssociationRecord"},
    {0xF3, "InformInfoRecord"},
};

// IBTA 16.1.2.
constexpr Named kPerformanceAttributes[] = {
    {0x10, "PortSamplesControl"},
    {0x11, "PortSamplesResult"},
    {0x12, "PortCounters"},
    {0x1D, "PortCountersExtended"},
};

std::string name_in(std::span<const Named> table, std::uint16_t number) {
  const auto found =
      std::find_if(table.begin(), table.end(), [=](const Named& named) { return named.number == number; });
  return found == table.end() ? std::string{} : found->name;
}

// "CM REQ: request for communication" is the title of a REQ's header.
std::string connection_message(wire::mad::AttributeId attribute) {
  const Header* const header = cm_header(attribute.value);
  if (header == nullptr) return {};
  const std::string_view title = header->title;
  return std::string(title.substr(0, title.find(':')));
}

// IBTA 13.4.4.
bool is_vendors(ManagementClass management_class) {
  const auto value = static_cast<unsigned>(management_class);
  return (value >= 0x09 && value <= 0x0F) || wire::mad::has_oui(management_class);
}

// In front of the method (IBTA 14.2.4, 15.2.2, 16).
std::string class_prefix(ManagementClass management_class) {
  switch (management_class) {
    case ManagementClass::subnet_lid_routed:
    case ManagementClass::subnet_directed_route:
      return "Subn";
    case ManagementClass::subnet_administration:
      return "SubnAdm";
    case ManagementClass::performance:
      return "Performance";
    case ManagementClass::communication:
      return "ComMgt";
    case ManagementClass::openib_ping:
      break;
  }
  return is_vendors(management_class) ? "Vendor"
                                      : fmt::format("class {:#x} ", static_cast<unsigned>(management_class));
}

}  // namespace

std::string method_name(Method method) { return name_in(kMethods, static_cast<std::uint8_t>(method)); }

std::string attribute_name(ManagementClass management_class, wire::mad::AttributeId attribute) {
  switch (management_class) {
    case ManagementClass::subnet_lid_routed:
    case ManagementClass::subnet_directed_route:
      return name_in(kSubnetAttributes, attribute.value);
    case ManagementClass::subnet_administration:
      if (std::string name = name_in(kRecords, attribute.value); !name.empty()) return name;
      break;
    case ManagementClass::performance:
      if (std::string name = name_in(kPerformanceAttributes, attribute.value); !name.empty()) return name;
      break;
    case ManagementClass::communication:
      if (std::string name = connection_message(attribute); !name.empty()) return name;
      break;
    case ManagementClass::openib_ping:
      return {};
  }
  return is_vendors(management_class) ? std::string{} : name_in(kCommonAttributes, attribute.value);
}

std::string mad_name(const MadKind& kind) {
  std::string attribute = attribute_name(kind.management_class, kind.attribute);
  if (kind.management_class == ManagementClass::communication && kind.method == Method::send &&
      cm_header(kind.attribute.value) != nullptr)
    return attribute;
  if (attribute.empty()) attribute = fmt::format("{:#x}", kind.attribute.value);
  std::string method = method_name(kind.method);
  if (method.empty()) method = fmt::format("{:#x}", static_cast<unsigned>(kind.method));
  return fmt::format("{}{}({})", class_prefix(kind.management_class), method, attribute);
}

}  // namespace urnic::analysis
