// Paths in a subnet of InfiniBand: what a call says of them, the same for the script's end and the device's.
#pragma once

#include "script/call.hpp"
#include "wire/network_headers.hpp"

namespace urnic::script {

inline wire::LinkLayer link_layer_of(const wire::NetworkHeaders& path) {
  return path.local ? wire::LinkLayer::infiniband : wire::LinkLayer::ethernet;
}

// Sets service level and GRH as the arguments `sl` and `grh` of `call` say. A path on Ethernet stays as it
// is.
inline void set_local_route(const Call& call, wire::NetworkHeaders& path) {
  if (!path.local) return;
  path.local->service_level = static_cast<std::uint8_t>(call.number("sl"));
  path.local->with_grh = call.number("grh") != 0;
}

}  // namespace urnic::script
