// Management datagrams that go from node to node by calls (docs/decisions/subnet-by-calls.md), as captures
// see them: on the links of devices, as packets.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device_model/subnet/datagram.hpp"

namespace urnic::control {

struct EngineUnit;
class Fabric;
struct ServedDevice;

class ObservedDatagrams final : public subnet::PassageObserver {
 public:
  // `fabric` has its subnet and its devices, and outlives it.
  explicit ObservedDatagrams(const Fabric& fabric);

  // Whether a capture runs.
  bool is_observing() const override;
  // Shows captures a packet that a device sends or receives, and waits for the end of the engine's round:
  // what is sent because of it comes behind it.
  void passed(const subnet::Passage& passage) override;

 private:
  // Whose link begins there; null: none of a device's.
  const ServedDevice* device_at(subnet::PortPlace place) const;

  const Fabric& fabric_;
  EngineUnit& unit_;
  std::vector<std::array<std::uint32_t, 2>> sent_;  // by node and queue pair: packets, as PSNs count them
};

}  // namespace urnic::control
