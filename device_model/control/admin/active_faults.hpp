// The fault plan that the links of the fabric ask, if there is one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/fault/fault_plan.hpp"

namespace urnic::control {

class Fabric;

class ActiveFaults {
 public:
  explicit ActiveFaults(Fabric& fabric) : fabric_(fabric) {}
  ~ActiveFaults() { clear(); }
  ActiveFaults(const ActiveFaults&) = delete;
  ActiveFaults& operator=(const ActiveFaults&) = delete;

  // Puts a plan in force in the place of the one before; `name` stands for its file. If it is wrong, throws
  // settings::SettingError and leaves the one before.
  void load(const std::string& text, const std::string& name);
  // Likewise, from a file.
  void load(const std::filesystem::path& file);
  void clear();

  struct State {
    std::uint64_t number = 0;  // no two plans have the same
    std::string name;
    std::vector<fault::FaultPlan::RuleState> rules;
  };
  // Empty if no plan is in force.
  std::optional<State> state() const;

 private:
  // One plan for each engine, in their order. What rules count is of one sending QP, and the packets of a QP
  // on one link are all seen by one engine: together these plans do what one would.
  using Plans = std::vector<std::unique_ptr<fault::FaultPlan>>;

  void put_in_force(const Plans& plans);

  Fabric& fabric_;
  Plans plans_;  // empty: none is in force
  std::string name_;
  std::uint64_t number_ = 0;
};

}  // namespace urnic::control
