#include "tools/urnic/environment.hpp"

#include <cstdlib>

#include "device_model/abi/run_directory_layout.hpp"

namespace urnic::cli {
namespace {

// `entry` in front of the present value of `variable`, unless the value has it already.
std::string prepend(const char* variable, const std::string& entry, char separator) {
  const char* current = std::getenv(variable);
  if (current == nullptr || *current == '\0') return entry;
  std::string list = current;
  if ((separator + list + separator).find(separator + entry + separator) != std::string::npos) return list;
  return entry + separator + list;
}

}  // namespace

std::map<std::string, std::string> program_environment(const Installation& installation,
                                                       const std::filesystem::path& run_directory) {
  std::map<std::string, std::string> variables;
  variables[abi::kRunDirectoryVariable] = run_directory.string();
  variables["LD_PRELOAD"] = prepend("LD_PRELOAD", installation.kernel_stand_in.string(), ':');
  variables["RDMAV_DRIVERS"] = prepend("RDMAV_DRIVERS", installation.provider_setting.string(), ':');
  // AddressSanitizer's runtime wants to be the first library. It works behind the stand-in too, which defines
  // no allocator.
  variables["ASAN_OPTIONS"] = prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
  return variables;
}

}  // namespace urnic::cli
