// A way from the programs' network namespace to the networks of this host: slirp4netns(1), a process that
// speaks IP on one side and opens sockets of this host on the other.
#pragma once

#include "device_model/control/network/own_namespace.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// Its interface in the namespace.
inline constexpr const char* kOutsideInterface = "outside";

// Starts the process and waits until its interface has an address and a default route. The process ends when
// the descriptor is closed, also by the end of this process. Call it before any thread starts. Throws
// std::runtime_error with a sentence: slirp4netns is not installed, or what it has said.
memory::Descriptor open_way_outside(const NetworkNamespace& place);

}  // namespace urnic::control
