// The admin socket's request for fault plans: "fault".
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "device_model/control/admin/active_faults.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

json describe(const std::optional<ActiveFaults::State>& state) {
  if (!state) return {{"plan", nullptr}};
  json rules = json::array();
  for (const auto& rule : state->rules) {
    rules.push_back({{"name", rule.name}, {"matches", rule.matches}});
    if (rule.times) rules.back()["times"] = *rule.times;
  }
  return {{"plan", {{"number", state->number}, {"name", state->name}, {"rules", rules}}}};
}

const std::string& text_in(const json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end() || !found->is_string())
    throw std::runtime_error(fmt::format("\"{}\" must be a text", key));
  return found->get_ref<const std::string&>();
}

// How many packets an added rule acts on.
std::uint64_t times_in(const json& request) {
  const json times = request.value("times", json(1u));
  if (!times.is_number_unsigned() || times.get<std::uint64_t>() == 0)
    throw std::runtime_error(fmt::format("times = {}: allowed is a whole number from 1", json_text(times)));
  return times.get<std::uint64_t>();
}

}  // namespace

// "clear" returns the plan's last state. With a plan's number, "clear" removes no other plan.
json AdminServer::fault(const json& request, AdminConnectionState&) {
  ActiveFaults& faults = surroundings_.faults;
  const std::string& what = text_in(request, "do");
  if (what == "load") {
    faults.load(text_in(request, "text"), text_in(request, "name"));
    return describe(faults.state());
  }
  if (what == "add") {
    faults.add(text_in(request, "text"), text_in(request, "name"), times_in(request));
    return describe(faults.state());
  }
  if (what == "list") return describe(faults.state());
  if (what != "clear") throw std::runtime_error("\"do\" must be one of load, add, list, clear");
  const auto state = faults.state();
  const auto number = request.find("number");
  if (state && number != request.end() && *number != state->number) return describe({});
  faults.clear();
  return describe(state);
}

}  // namespace urnic::control
