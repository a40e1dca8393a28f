#include "device_model/control/stranger_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/frames/lan_port.hpp"

namespace urnic::control {
namespace {

constexpr std::chrono::minutes kBetweenLines{1};
constexpr std::array<const char*, 7> kKindWords{"packets for queue pairs that there are not",
                                                "packets with a wrong ICRC",
                                                "packets that are not RoCEv2",
                                                "frames with a length that is impossible",
                                                "connections closed because of a length that no frame has",
                                                "connections of other users refused",
                                                "peers left because they took nothing"};

}  // namespace

StrangerLines::StrangerLines(EventLoop& loop, Fabric& fabric)
    : fabric_(fabric), told_(fabric.devices().size() + 1), timer_(loop, [this] { tell(); }) {
  const auto& devices = fabric.devices();
  const bool outside =
      fabric.lan() != nullptr ||
      std::any_of(devices.begin(), devices.end(), [](const auto& device) { return device->udp != nullptr; });
  if (outside) timer_.set(kBetweenLines);
}

StrangerLines::Counts StrangerLines::counts_of(const ServedDevice& device) {
  Counts counts{};
  for (const CounterValue& counter : hardware_values(snapshot(fabric_, device))) {
    if (counter.name == "rx_unknown_qp") counts[unknown_queue_pair] = counter.value;
    if (counter.name == "rx_icrc_encapsulated") counts[wrong_icrc] = counter.value;
  }
  if (device.udp != nullptr) counts[malformed] = device.udp->port.counters().malformed;
  return counts;
}

StrangerLines::Counts StrangerLines::counts_of_lan() {
  Counts counts{};
  fabric_.units().front()->engine.execute([&] {
    const link::CarrierCounters carrier = fabric_.lan()->counters().carrier;
    counts[impossible_length] = carrier.impossible_length;
    counts[broken_streams] = carrier.broken_streams;
    counts[other_users] = carrier.strangers;
    counts[stalled_peers] = carrier.stalled_peers;
  });
  return counts;
}

std::vector<std::string> StrangerLines::lines() {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& where, Counts& told, const Counts& now) {
    std::string words;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      if (now[kind] > told[kind])
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", now[kind] - told[kind], kKindWords[kind]);
    }
    told = now;
    if (!words.empty()) lines.push_back(fmt::format("{}: unexpected in the last minute: {}", where, words));
  };
  for (const auto& device : fabric_.devices()) {
    if (device->udp != nullptr || fabric_.lan() != nullptr)
      compare(device->settings.name, told_[device->index], counts_of(*device));
  }
  if (fabric_.lan() != nullptr) compare("the LAN", told_.back(), counts_of_lan());
  return lines;
}

void StrangerLines::tell() {
  for (const std::string& line : lines()) log::info("{}", line);
  timer_.set(kBetweenLines);
}

}  // namespace urnic::control
