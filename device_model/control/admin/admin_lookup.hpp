// Finds the device, or the queue pair, of a request on the admin socket.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace urnic::control {

class Context;
class ControlServer;
class Fabric;
struct QueuePair;
struct ServedDevice;

// The device that `request` names; null if it names none, or "all". Throws std::runtime_error if there is no
// such device.
ServedDevice* find_device(const Fabric& fabric, const nlohmann::json& request);

struct FoundQueuePair {
  const Context& context;  // that has opened it
  const QueuePair& queue_pair;
};
// The queue pair that `request` names by "device" and "qpn". Throws std::runtime_error if there is none.
FoundQueuePair find_queue_pair(const Fabric& fabric, const ControlServer& control,
                               const nlohmann::json& request);

}  // namespace urnic::control
