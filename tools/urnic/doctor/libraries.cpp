#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "tools/urnic/doctor/child_output.hpp"
#include "tools/urnic/doctor/examinations.hpp"
#include "tools/urnic/preload_check.hpp"

namespace urnic::cli::doctor {
namespace {

constexpr const char* kLibrary = "libibverbs.so.1";

// "/lib/x86_64-linux-gnu/libibverbs.so.1 (release 44)": the third number of the file's version is
// rdma-core's.
std::string with_release(const std::filesystem::path& library) {
  std::error_code error;
  const std::string file = std::filesystem::canonical(library, error).filename().string();
  std::istringstream numbers(file.substr(std::min(file.size(), std::string("libibverbs.so.").size())));
  std::string number;
  for (int place = 0; place < 3; ++place) std::getline(numbers, number, '.');
  return numbers.fail() || number.empty() ? library.string()
                                          : fmt::format("{} (release {})", library.string(), number);
}

// "\tlibibverbs.so.1 => /lib/…/libibverbs.so.1 (0x…)": where the dynamic linker finds `name`, "" if it does
// not look for it, "not found" if it does and fails.
std::string found_at(const std::string& listing, const std::string& name) {
  std::istringstream lines(listing);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string library;
    std::string arrow;
    std::string path;
    words >> library >> arrow >> path;
    if (library == name) return path == "not" ? "not found" : path;
  }
  return {};
}

Finding loaded_library(const std::string& program, const std::string& listing) {
  const std::string path = found_at(listing, kLibrary);
  if (path.empty()) {
    return {Severity::good, "its libraries", fmt::format("{} may load {} when it runs", program, kLibrary),
            ""};
  }
  if (path == "not found") {
    return {Severity::obstacle, "its libraries", fmt::format("{} is not found", kLibrary),
            "install libibverbs1, or set LD_LIBRARY_PATH"};
  }
  return {Severity::good, "its libraries", "it loads " + with_release(path), ""};
}

}  // namespace

Findings examine_library() {
  void* const library = dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    return {{Severity::obstacle, "libibverbs", dlerror(),
             "install it: libibverbs1 (Debian, Ubuntu, SUSE), libibverbs (Fedora, RHEL)"}};
  }
  link_map* map = nullptr;
  dlinfo(library, RTLD_DI_LINKMAP, &map);
  return {{Severity::good, "libibverbs", with_release(map->l_name), ""}};
}

Findings examine_program(const std::string& command) {
  const auto program = find_command(command);
  if (!program) {
    return {{Severity::obstacle, "program", command + ": no such command", "give its path, or set PATH"}};
  }
  if (const auto obstacle = preload_obstacle(*program)) {
    return {
        {Severity::obstacle, "program", *obstacle, "urnic needs LD_PRELOAD: see docs/kernel-stand-in.md"}};
  }
  // With this variable the dynamic linker lists the libraries, and the program itself does not start.
  const ChildOutput listing = output_of({program->string()}, {{"LD_TRACE_LOADED_OBJECTS", "1"}});
  return {{Severity::good, "program", program->string() + " can be preloaded", ""},
          loaded_library(program->filename().string(), listing.output)};
}

}  // namespace urnic::cli::doctor
