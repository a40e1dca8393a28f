// A fault plan as the command hands it to the device process, and what is said of it at its end.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

// Puts the plan of `file` in force; the answer describes it (docs/admin-socket.md, "fault"). Throws Failure.
nlohmann::json load_fault_plan(AdminClient& client, const std::string& file);

// Tells on standard error of a plan, or rules of one, that never matched.
void tell_what_never_matched(const nlohmann::json& plan);

// A plan in force while this object lives.
class TemporaryFaultPlan {
 public:
  // `client` outlives it. Throws Failure.
  TemporaryFaultPlan(AdminClient& client, const std::string& file);
  ~TemporaryFaultPlan();  // ends the plan, if it is still in force, and tells what never matched
  TemporaryFaultPlan(const TemporaryFaultPlan&) = delete;
  TemporaryFaultPlan& operator=(const TemporaryFaultPlan&) = delete;

 private:
  AdminClient& client_;
  std::uint64_t number_;
};

}  // namespace urnic::cli
