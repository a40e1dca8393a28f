// What a program asks for when it registers an agent, and what Linux allows (ib_register_mad_agent).
#pragma once

#include <rdma/ib_user_mad.h>

#include <array>
#include <cstdint>

namespace urnic::control {

inline constexpr std::uint32_t kMethods = 128;

struct AgentRequest {
  std::uint32_t qpn = 0;
  std::uint8_t management_class = 0;  // 0: the agent only sends
  std::uint8_t class_version = 0;
  std::array<std::uint64_t, kMethods / 64>
      methods{};          // of requests that it takes, as bits; none: it only sends
  std::uint32_t oui = 0;  // 24 bits; of the classes 0x30 to 0x4F
  std::uint8_t rmpp_version = 0;
  bool has_own_rmpp = false;  // the program cuts and joins messages itself

  // Whether messages of several MADs are cut and joined for it.
  bool wants_rmpp() const { return rmpp_version != 0 && !has_own_rmpp; }
  bool takes(std::uint32_t method) const { return (methods[method / 64] >> method % 64 & 1) != 0; }
};

AgentRequest to_agent_request(const ib_user_mad_reg_req& argument);
AgentRequest to_agent_request(const ib_user_mad_reg_req2& argument);

// A vendor's class whose MADs name the vendor: an OUI at kOuiOffset (IBTA 16.5).
constexpr bool has_oui(std::uint8_t management_class) {
  return management_class >= 0x30 && management_class <= 0x4F;
}
inline constexpr std::size_t kOuiOffset = 37;

// rdma_cm's messages, which no other agent can have on a device that rdma_cm uses (gsi.hpp).
bool takes_connection_management(const AgentRequest& request);

// 0, or the errno of a request that can never be granted. Unlike Linux on a RoCE port, agents of the subnet
// management classes are granted on QP 0, though there is no QP 0: tools that ask for one first and never use
// it (perfquery) go on.
int check_agent(const AgentRequest& request);

}  // namespace urnic::control
