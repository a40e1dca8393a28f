// Management datagrams by the names that the specification gives their parts: a prefix for the class, the
// method, the attribute; together "SubnGet(NodeInfo)", as urnic trace shows it. Wireshark has other names for
// some attributes.
#pragma once

#include <optional>
#include <string_view>

#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

// In front of the method: "Subn", "SubnAdm", "Performance", "ComMgt", "Vendor"; empty: a class without a
// name.
std::string_view class_prefix(ManagementClass management_class);
// "Get", "GetTableResp"; empty: a method without a name.
std::string_view method_name(Method method);
// "PortInfo"; empty: an attribute without a name. Messages of the connection manager have none here.
std::string_view attribute_name(ManagementClass management_class, AttributeId attribute);

// The other way round. Empty: nothing has this name.
std::optional<Method> method_named(std::string_view name);
std::optional<AttributeId> attribute_named(ManagementClass management_class, std::string_view name);

}  // namespace urnic::wire::mad
