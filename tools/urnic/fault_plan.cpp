#include "tools/urnic/fault_plan.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

#include "json/json.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {

nlohmann::json load_fault_plan(AdminClient& client, const std::string& file) {
  // A request on the admin socket has at most 65536 bytes.
  constexpr std::size_t kMostBytes = 60'000;
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw Failure(fmt::format("{}: the fault plan cannot be read", file));
  if (text.str().size() > kMostBytes)
    throw Failure(fmt::format("{}: a fault plan has at most {} bytes", file, kMostBytes));
  return client.ask({{"cmd", "fault"}, {"do", "load"}, {"name", file}, {"text", text.str()}}).at("plan");
}

void tell_what_never_matched(const nlohmann::json& plan) {
  const std::string name = plan.at("name").get<std::string>();
  bool any = false;
  for (const auto& rule : plan.at("rules")) any = any || rule.at("matches") != 0;
  if (!any) {
    fmt::print(stderr, "urnic: {}: the fault plan never matched a packet\n", name);
    return;
  }
  for (const auto& rule : plan.at("rules")) {
    if (rule.at("matches") != 0) continue;
    fmt::print(stderr, "urnic: {}: the rule \"{}\" never matched a packet\n", name,
               rule.at("name").get<std::string>());
  }
}

TemporaryFaultPlan::TemporaryFaultPlan(AdminClient& client, const std::string& file)
    : client_(client), number_(load_fault_plan(client, file).at("number").get<std::uint64_t>()) {}

TemporaryFaultPlan::~TemporaryFaultPlan() {
  try {
    const auto plan = client_.ask({{"cmd", "fault"}, {"do", "clear"}, {"number", number_}}).at("plan");
    if (plan.is_null()) {
      fmt::print(stderr, "urnic: the fault plan was replaced or cleared by somebody else meanwhile\n");
    } else {
      tell_what_never_matched(plan);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "urnic: the fault plan's end is unknown: {}\n", error.what());
  }
}

}  // namespace urnic::cli
