// repair_lab: how long the repair of one loss takes by its place in a message, and how many packets are sent
// again needlessly over links that reorder, under virtual time, as JSON on standard output.
#include <array>
#include <cstdint>
#include <exception>
#include <iostream>

#include "command_line/command_line.hpp"
#include "json/json.hpp"
#include "tests/unit/recovery/completion_times.hpp"
#include "tests/unit/recovery/names.hpp"
#include "tests/unit/recovery/needless.hpp"
#include "tests/unit/recovery/repair_times.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::array kLengths{1u, 2u, 3u, 4u, 7u, 10u, 16u, 24u, 33u, 48u, 64u};  // packets
constexpr std::array kMtus{1024u, 4096u};
constexpr std::array kDelays{1, 5, 50};  // microseconds each way
constexpr double kShare = 0.1;           // of the packets that are held back
constexpr std::uint32_t kMostOvertaking = 8;
constexpr std::uint32_t kPackets = 20'000;

double microseconds(Nanoseconds time) { return seconds(time) * 1e6; }

Json repair_point(const Experiment& experiment, std::uint32_t packets, LossPlace place) {
  const std::vector<Nanoseconds> times = repair_times(experiment, packets, place);
  Json json{{"recovery", name(experiment.mode)},
            {"operation", name(experiment.operation)},
            {"mtu", experiment.path_mtu},
            {"one_way_delay_us", microseconds(experiment.delay)},
            {"packets", packets},
            {"place", name(place)},
            {"gave_up", lost_packets(place, packets).size() - times.size()}};
  Json& all = json["times_us"] = Json::array();
  for (const Nanoseconds time : times) all.push_back(microseconds(time));
  return json;
}

Json repairs() {
  Json all = Json::array();
  Experiment experiment;
  for (const LossPlace place : kLossPlaces) {
    for (const WorkOpcode operation : kOperationsWithAtomic) {
      for (const std::uint32_t mtu : kMtus) {
        for (const int delay : kDelays) {
          for (const std::uint32_t packets : kLengths) {
            if (lost_packets(place, packets).empty()) continue;
            if (operation == WorkOpcode::atomic_fetch_add && packets > 1) continue;
            for (const RecoveryMode mode : kModes) {
              experiment.mode = mode;
              experiment.operation = operation;
              experiment.path_mtu = mtu;
              experiment.delay = std::chrono::microseconds(delay);
              all.push_back(repair_point(experiment, packets, place));
            }
          }
        }
      }
    }
  }
  return all;
}

Json needless_point(const Experiment& experiment, const Load& load) {
  Json json{{"recovery", name(experiment.mode)},
            {"operation", name(experiment.operation)},
            {"mtu", experiment.path_mtu},
            {"one_way_delay_us", microseconds(experiment.delay)},
            {"loss", experiment.loss.loss},
            {"message_packets", load.message_packets},
            {"one_at_a_time", load.one_at_a_time},
            {"packets", std::uint64_t{load.messages} * load.message_packets}};
  Json& twice = json["arrived_twice"] = Json::array();
  Json& answers = json["lost_answers"] = Json::array();
  for (std::uint32_t packets = 1; packets <= kMostOvertaking; ++packets) {
    const Needless found = measure_needless(experiment, {.share = kShare, .packets = packets}, load);
    twice.push_back(found.arrived_twice);
    answers.push_back(found.lost_answers);
  }
  return json;
}

Json needless() {
  constexpr std::array kLoads{Load{10, kPackets / 10, true}, Load{64, kPackets / 64, true},
                              Load{16, kPackets / 16, false}};
  Json all = Json::array();
  Experiment experiment;
  for (const WorkOpcode operation : kOperations) {
    for (const Load& load : kLoads) {
      for (const double loss : {0.0, 0.01}) {
        experiment.operation = operation;
        experiment.loss.loss = loss;
        all.push_back(needless_point(experiment, load));
      }
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "How long the repair of one loss takes with each recovery, and what is sent again needlessly, on a 100 "
      "Gbit/s link under virtual time, as JSON.");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    const Json result{{"link_gbps", Experiment{}.bits_per_second / 1e9},
                      {"held_back", kShare},
                      {"repair", repairs()},
                      {"needless", needless()}};
    std::cout << urnic::json_lines(result) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "repair_lab: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
