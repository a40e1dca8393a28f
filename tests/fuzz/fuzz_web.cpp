// Any body of a page's request: it is refused, or becomes one request of its kind. A fault becomes one rule,
// for one queue pair.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/fault/plan_file.hpp"
#include "tests/fuzz/require.hpp"
#include "web/server/actions.hpp"
#include "web/server/query_text.hpp"
#include "web/server/queue_pair_name.hpp"

namespace {

using namespace urnic;
using nlohmann::json;

template <typename Make>
json made(Make make, const json& action) {
  try {
    return make(action);
  } catch (const web::WrongAction&) {
    return nullptr;
  }
}

void check_fault(const json& request) {
  const std::vector<std::string> devices{
      request.at("text").get<std::string>().find("\"urnic0\"") == std::string::npos ? "other" : "urnic0"};
  try {
    const auto rules = fault::parse_plan(request.at("text").get<std::string>(), "page", devices);
    fuzz::require(rules.size() == 1 && rules[0].match.qp && rules[0].match.device,
                  "a fault of another queue pair");
  } catch (const settings::SettingError&) {  // there is no such device
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto name = web::parse_queue_pair_name(text)) {
    fuzz::require(!name->device.empty() && name->qpn <= 0xFFFFFF, "a queue pair that cannot be");
  }
  fuzz::require(web::parameter_in(text, "x").size() <= text.size(), "a parameter that grows");
  const json action = parse_json(text);
  if (!action.is_object()) return 0;
  const json link = made(web::link_request, action);
  fuzz::require(link.is_null() || (link.at("cmd") == "link" && link.at("set").is_object()),
                "no link request");
  const json recovery = made(web::recovery_request, action);
  fuzz::require(recovery.is_null() || recovery.at("cmd") == "set", "no recovery request");
  const json fault = made([](const json& each) { return web::fault_request(each, 1); }, action);
  if (!fault.is_null()) check_fault(fault);
  return 0;
}
