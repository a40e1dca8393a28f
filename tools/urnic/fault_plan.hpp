// Loading a fault plan into the device process, and the report at its end.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

// Puts the plan of `file` in force and returns its description (docs/admin-socket.md, "fault"). Throws
// Failure.
nlohmann::json load_fault_plan(AdminClient& client, const std::string& file);

// Reports on standard error a plan, or rules of it, that never matched.
void tell_what_never_matched(const nlohmann::json& plan);

// A plan in force while this object lives.
class TemporaryFaultPlan {
 public:
  // `client` must outlive the plan. Throws Failure.
  TemporaryFaultPlan(AdminClient& client, const std::string& file);
  ~TemporaryFaultPlan();  // ends the plan, if it is still in force, and reports what never matched
  TemporaryFaultPlan(const TemporaryFaultPlan&) = delete;
  TemporaryFaultPlan& operator=(const TemporaryFaultPlan&) = delete;

 private:
  AdminClient& client_;
  std::uint64_t number_;
};

}  // namespace urnic::cli
