// The fault plan of the fabric's links, if there is one.
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

  // Replaces the current plan; `name` is its file's name. If `text` is wrong, throws settings::SettingError
  // and keeps the current plan.
  void load(const std::string& text, const std::string& name);
  // The same, from a file.
  void load(const std::filesystem::path& file);
  // Puts the rules of `text` beside those in force, for `times` packets each (with several engines, of each
  // engine); with an empty plan if there is none. Throws settings::SettingError, or std::runtime_error if as
  // many as may be are added already.
  void add(const std::string& text, const std::string& name, std::uint64_t times);
  void clear();

  struct State {
    std::uint64_t number = 0;  // unique for each plan
    std::string name;
    std::vector<fault::FaultPlan::RuleState> rules;
  };
  // Empty if there is no plan.
  std::optional<State> state() const;

 private:
  // One plan for each engine, in engine order. Rules count packets of one sending QP, and one engine sees all
  // packets of a QP on one link: so these plans act together like one.
  using Plans = std::vector<std::unique_ptr<fault::FaultPlan>>;

  std::vector<fault::FaultRule> parse(const std::string& text, const std::string& name) const;
  void replace(const std::vector<fault::FaultRule>& rules, const std::string& name);
  void put_in_force(const Plans& plans);

  Fabric& fabric_;
  Plans plans_;  // empty: no plan
  std::string name_;
  std::uint64_t number_ = 0;
};

}  // namespace urnic::control
