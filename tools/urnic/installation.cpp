#include "tools/urnic/installation.hpp"

#include <fmt/format.h>

#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

void require(const std::filesystem::path& file, const char* what) {
  if (!std::filesystem::exists(file)) {
    throw Failure(
        fmt::format("{} is missing: {} does not exist; build or install urnic whole", what, file.string()));
  }
}

// LD_PRELOAD and RDMAV_DRIVERS separate their entries by these characters and know no quoting.
void require_preloadable(const std::filesystem::path& file) {
  if (file.string().find_first_of(" :;") != std::string::npos) {
    throw Failure(
        fmt::format("{} cannot be preloaded from a path with a space, colon or semicolon in it: "
                    "install urnic somewhere else",
                    file.string()));
  }
}

// The tree that the running program is in.
std::filesystem::path own_prefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace

Installation find_installation() {
  const std::filesystem::path prefix = own_prefix();
  Installation found;
  found.device_process = prefix / URNIC_LIBEXECDIR / "urnicd";
  found.script_agent = prefix / URNIC_LIBEXECDIR / "urnic-script-agent";
  found.kernel_stand_in = prefix / URNIC_PLUGINDIR / "liburnic-kernel.so";
  found.provider = prefix / URNIC_PLUGINDIR / "liburnic-rdmav34.so";
  found.provider_setting = prefix / URNIC_PLUGINDIR / "liburnic";
  require(found.device_process, "the device process");
  require(found.kernel_stand_in, "the kernel stand-in");
  require(found.provider, "the provider plugin");
  require_preloadable(found.kernel_stand_in);
  return found;
}

WebInstallation find_web_installation() {
  const std::filesystem::path prefix = own_prefix();
  WebInstallation found{prefix / URNIC_LIBEXECDIR / "urnic-web", prefix / URNIC_DATADIR / "web"};
  if (!std::filesystem::exists(found.server) || !std::filesystem::exists(found.page)) {
    throw Failure(
        fmt::format("the live page is not installed: {} or {} is missing; install the component or package "
                    "urnic-web",
                    found.server.string(), found.page.string()));
  }
  return found;
}

std::filesystem::path find_pvrdma_mux() {
  std::filesystem::path found = own_prefix() / URNIC_LIBEXECDIR / "urnic-pvrdma-mux";
  require(found, "the mux for guests");
  return found;
}

LessonInstallation find_lesson_installation() {
  const std::filesystem::path folder = own_prefix() / URNIC_DATADIR;
  LessonInstallation found{folder / "tutor/lesson.py", folder / "lessons"};
  for (const std::filesystem::path& file : {found.tutor, found.lessons}) {
    if (std::filesystem::exists(file)) continue;
    throw Failure(fmt::format(
        "the lessons are not installed: {} does not exist; Debian's package urnic-lessons has them, or cmake "
        "--install BUILD --component lessons",
        file.string()));
  }
  return found;
}

WiresharkInstallation find_wireshark_installation() {
  const std::filesystem::path folder = own_prefix() / URNIC_DATADIR / "wireshark";
  WiresharkInstallation found{folder / "urnic.lua", folder / "profile"};
  if (!std::filesystem::exists(found.dissector) || !std::filesystem::exists(found.profile)) {
    throw Failure(
        fmt::format("what is for Wireshark is not installed: {} is missing; install the component wireshark",
                    folder.string()));
  }
  return found;
}

}  // namespace urnic::cli
