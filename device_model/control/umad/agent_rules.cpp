#include "device_model/control/umad/agent_rules.hpp"

#include <cerrno>

#include "wire/mad/cm_messages.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/rmpp.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control {
namespace {

constexpr std::uint8_t kMaxClass = 80;
constexpr std::uint8_t kMaxClassVersion = 0x83;

}  // namespace

AgentRequest to_agent_request(const ib_user_mad_reg_req& argument) {
  const auto oui = argument.oui;
  return {.qpn = argument.qpn,
          .management_class = argument.mgmt_class,
          .class_version = argument.mgmt_class_version,
          .methods = {argument.method_mask[0], argument.method_mask[1]},
          .oui = static_cast<std::uint32_t>(oui[0] << 16 | oui[1] << 8 | oui[2]),
          .rmpp_version = argument.rmpp_version};
}

AgentRequest to_agent_request(const ib_user_mad_reg_req2& argument) {
  return {.qpn = argument.qpn,
          .management_class = argument.mgmt_class,
          .class_version = argument.mgmt_class_version,
          .methods = {argument.method_mask[0], argument.method_mask[1]},
          .oui = argument.oui & 0xFFFFFF,
          .rmpp_version = argument.rmpp_version,
          .has_own_rmpp = (argument.flags & IB_USER_MAD_USER_RMPP) != 0};
}

bool takes_connection_management(const AgentRequest& request) {
  return request.management_class == static_cast<std::uint8_t>(wire::mad::ManagementClass::communication) &&
         request.class_version == wire::mad::kCmClassVersion &&
         request.takes(static_cast<std::uint32_t>(wire::mad::Method::send));
}

int check_agent(const AgentRequest& request) {
  if (request.qpn > 1 || request.rmpp_version > wire::mad::kRmppVersion) return EINVAL;
  if (request.management_class == 0) return 0;
  const wire::mad::ManagementClass management_class{request.management_class};
  const bool subnet_management = is_subnet_management(management_class);
  if (request.management_class >= kMaxClass && !subnet_management) return EINVAL;
  if (request.class_version >= kMaxClassVersion) return EINVAL;
  if (has_oui(request.management_class) && request.oui == 0) return EINVAL;
  if (request.rmpp_version != 0 && !has_rmpp(management_class)) return EINVAL;
  return subnet_management == (request.qpn == 0) ? 0 : EINVAL;
}

}  // namespace urnic::control
