#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "device_model/abi/run_directory_layout.hpp"
#include "tools/urnic/container_devices.hpp"
#include "tools/urnic/doctor/child_output.hpp"
#include "tools/urnic/doctor/examinations.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/failure.hpp"

// Of libibverbs, which the command does not link: a machine that lacks it is what `urnic doctor` reports.
struct ibv_device;

namespace urnic::cli::doctor {
namespace {

std::string in_one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(", ") : std::string(1, c);
  return line;
}

// Of `names`, which are not among the lines of `seen`.
std::string missing_in(const std::string& seen, const std::vector<std::string>& names) {
  std::string missing;
  for (const std::string& name : names)
    if (('\n' + seen).find('\n' + name + '\n') == std::string::npos)
      missing += (missing.empty() ? "" : ", ") + name;
  return missing;
}

}  // namespace

Findings examine_devices(const Installation& installation, const std::filesystem::path& run_directory,
                         const std::vector<std::string>& names) {
  auto variables = program_environment(installation, run_directory);
  // Which devices somebody hides from programs is no matter of libraries.
  variables[abi::kShownDevicesVariable] = kAllDevices;
  const ChildOutput child = output_of({"/proc/self/exe", "doctor", "--list-devices"}, variables);
  const std::string said = in_one_line(child.errors);
  if (child.status != 0) {
    return {{Severity::obstacle, "devices",
             fmt::format("libibverbs fails: {}", said.empty() ? "no message" : said),
             "see the lines above, and docs/kernel-stand-in.md"}};
  }
  if (child.output.empty()) {
    return {{Severity::obstacle, "devices",
             fmt::format("libibverbs sees none{}{}", said.empty() ? "" : ": ", said),
             "see the lines above; 'urnic status' shows what the device process has"}};
  }
  const std::string seen = fmt::format("libibverbs sees {}", in_one_line(child.output));
  const std::string missing = missing_in(child.output, names);
  if (missing.empty()) return {{Severity::good, "devices", seen, ""}};
  return {{Severity::obstacle, "devices", fmt::format("{}, and not {}", seen, missing),
           "their library is missing: devices with the face mlx5 need libmlx5, of Debian's package "
           "ibverbs-providers"}};
}

int list_devices() {
  void* const library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Failure(dlerror());
  const auto get_list = reinterpret_cast<ibv_device** (*)(int*)>(dlsym(library, "ibv_get_device_list"));
  const auto name = reinterpret_cast<const char* (*)(ibv_device*)>(dlsym(library, "ibv_get_device_name"));
  if (get_list == nullptr || name == nullptr) throw Failure("libibverbs.so.1 has no ibv_get_device_list");
  int count = 0;
  ibv_device** const devices = get_list(&count);
  for (int i = 0; devices != nullptr && i < count; ++i) fmt::print("{}\n", name(devices[i]));
  std::fflush(stdout);
  return exit_ok;
}

}  // namespace urnic::cli::doctor
