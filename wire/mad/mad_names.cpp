#include "wire/mad/mad_names.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "wire/mad/vendor.hpp"

namespace urnic::wire::mad {
namespace {

struct Named {
  std::uint16_t number;
  std::string_view name;
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

using Table = std::span<const Named>;

std::string_view name_in(Table table, std::uint16_t number) {
  const auto found =
      std::find_if(table.begin(), table.end(), [=](const Named& named) { return named.number == number; });
  return found == table.end() ? std::string_view{} : found->name;
}

std::optional<std::uint16_t> number_in(Table table, std::string_view name) {
  const auto found =
      std::find_if(table.begin(), table.end(), [=](const Named& named) { return named.name == name; });
  if (found == table.end()) return {};
  return found->number;
}

// IBTA 13.4.4.
bool is_vendors(ManagementClass management_class) {
  const auto value = static_cast<unsigned>(management_class);
  return (value >= 0x09 && value <= 0x0F) || has_oui(management_class);
}

// The attributes of the class itself.
Table own_attributes(ManagementClass management_class) {
  switch (management_class) {
    case ManagementClass::subnet_lid_routed:
    case ManagementClass::subnet_directed_route:
      return kSubnetAttributes;
    case ManagementClass::subnet_administration:
      return kRecords;
    case ManagementClass::performance:
      return kPerformanceAttributes;
    default:
      return {};
  }
}

// Vendors give the numbers of all classes a meaning of their own, and subnet management has all of its in its
// table.
Table common_attributes(ManagementClass management_class) {
  const bool has_own = is_vendors(management_class) ||
                       management_class == ManagementClass::subnet_lid_routed ||
                       management_class == ManagementClass::subnet_directed_route;
  return has_own ? Table{} : Table{kCommonAttributes};
}

}  // namespace

// IBTA 14.2.4, 15.2.2, 16.
std::string_view class_prefix(ManagementClass management_class) {
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
  return is_vendors(management_class) ? "Vendor" : "";
}

std::string_view method_name(Method method) { return name_in(kMethods, static_cast<std::uint8_t>(method)); }

std::string_view attribute_name(ManagementClass management_class, AttributeId attribute) {
  const std::string_view own = name_in(own_attributes(management_class), attribute.value);
  return own.empty() ? name_in(common_attributes(management_class), attribute.value) : own;
}

std::optional<Method> method_named(std::string_view name) {
  const auto number = number_in(kMethods, name);
  if (!number) return {};
  return static_cast<Method>(*number);
}

std::optional<AttributeId> attribute_named(ManagementClass management_class, std::string_view name) {
  auto number = number_in(own_attributes(management_class), name);
  if (!number) number = number_in(common_attributes(management_class), name);
  if (!number) return {};
  return AttributeId{*number};
}

}  // namespace urnic::wire::mad
