// A change of a device's queue pairs, as the admin socket's request "set" makes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace urnic::engine {
class QueuePairContext;
}

namespace urnic::control {

class ControlServer;
class Fabric;
struct ServedDevice;

// Calls `change` on the engine with every QP of the device, or with the one that has the number `qpn`.
// Returns with how many.
std::size_t change_queue_pairs(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                               std::optional<std::uint32_t> qpn,
                               const std::function<void(engine::QueuePairContext&)>& change);

}  // namespace urnic::control
