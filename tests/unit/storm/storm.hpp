// A storm: random programs on random links for some time, with kills; then calm.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/fault/fault_plan.hpp"
#include "tests/unit/engine/program.hpp"
#include "tests/unit/storm/chance.hpp"
#include "tests/unit/storm/traffic.hpp"

namespace urnic::engine::storm {

class Storm {
 public:
  // On the two devices of `fabric`, which outlives it.
  Storm(test::Fabric& fabric, std::uint64_t seed);
  ~Storm();

  // Programs, links and faults do what they like for a few virtual milliseconds.
  void rage();
  // Links are perfect again. A fresh pair must move data; then all programs end, and the engine must have
  // nothing left to do and all pools at rest. What is not so; empty if all is.
  std::string calm();

 private:
  struct Victim {
    std::unique_ptr<test::Program> program;
    bool dead = false;
  };

  void add_traffic();
  void act();
  void change_weather();
  void kill_a_program();
  void end_traffic();
  void perfect_links();
  std::string move_data();
  bool one_round();
  void rounds();
  bool until(bool (*done)(Storm&), transport::Nanoseconds longest);
  std::string at_rest();
  Programs random_programs();

  test::Fabric& fabric_;
  Chance chance_;
  std::vector<Victim> victims_;
  std::unique_ptr<fault::FaultPlan> plan_;
  std::vector<std::unique_ptr<Traffic>> traffic_;
  std::uint32_t next_doorbell_ = 0;
  std::string stuck_;
};

}  // namespace urnic::engine::storm
