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
  // A storm on the two devices of `fabric`, which must outlive it.
  Storm(test::Fabric& fabric, std::uint64_t seed);
  ~Storm();

  // Programs, links and faults act at random for a few virtual milliseconds.
  void rage();
  // Makes the links perfect. A fresh pair must move data; then all programs end, and the engine must have
  // nothing left to do and all pools at rest. Returns what is wrong; empty if nothing is.
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
