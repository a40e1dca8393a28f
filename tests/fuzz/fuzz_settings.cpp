// Any text as a configuration and as a fault plan: it is accepted, or refused with one line that names the
// file.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/fault/fault_plan.hpp"
#include "device_model/fault/plan_file.hpp"

namespace {

void require_one_line(std::string_view error) {
  const bool names_file = error.substr(0, 8) == "any.toml";
  if (names_file && error.find('\n') == std::string_view::npos) return;
  std::fprintf(stderr, "fuzz_settings: an error that is not one line: %.*s\n", static_cast<int>(error.size()),
               error.data());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace urnic;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    control::parse_configuration(text, "any.toml");
  } catch (const settings::SettingError& error) {
    require_one_line(error.what());
  }
  const std::vector<std::string> devices{"urnic0", "urnic1"};
  try {
    const fault::FaultPlan plan(fault::parse_plan(text, "any.toml", devices));
  } catch (const settings::SettingError& error) {
    require_one_line(error.what());
  }
  return 0;
}
