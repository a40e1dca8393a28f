#include "tools/urnic/ended_command.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <csignal>

#include "control_groups/control_groups.hpp"
#include "json/json.hpp"

namespace urnic::cli {
namespace {

std::string why_it_was_killed(int signal, const SeenSoFar& before, const SeenSoFar& after) {
  switch (signal) {
    case SIGXCPU:
      return "its limit of processor time was reached (ulimit -t)";
    case SIGXFSZ:
      return "it wrote beyond its limit of file size (ulimit -f)";
    case SIGSYS:
      return "it made a system call that the container's filter forbids";
    case SIGKILL:
      return after.memory_kills > before.memory_kills
                 ? "its control group's memory was full: give the container more"
                 : "";
    default:
      return {};
  }
}

}  // namespace

SeenSoFar take_lease(AdminClient& client) {
  const nlohmann::json seen = client.ask({{"cmd", "lease"}});
  return {seen.at("contexts_opened").get<std::uint64_t>(), seen.at("lookups").get<std::uint64_t>(),
          seen.at("refusals").get<std::uint64_t>(), seen.at("last_refused").get<std::string>(),
          control_groups::ControlGroups().memory_kills()};
}

std::string why_it_failed(const std::string& command, int status, const SeenSoFar& before,
                          const SeenSoFar& after) {
  if (WIFSIGNALED(status)) {
    const std::string why = why_it_was_killed(WTERMSIG(status), before, after);
    return why.empty() ? why : "was ended by signal " + std::to_string(WTERMSIG(status)) + ": " + why;
  }
  const std::string ended = fmt::format("ended with status {}", WEXITSTATUS(status));
  if (after.refusals > before.refusals) {
    return fmt::format(
        "{}, and a program had been refused what is beyond its share of the device process's {}: "
        "'urnic status' shows what programs have, docs/configuration.md how to allow more",
        ended, after.last_refused);
  }
  if (after.contexts_opened > before.contexts_opened) return {};
  if (after.lookups > before.lookups) {
    return fmt::format(
        "{}; libibverbs had looked for devices, and the program opened none: 'urnic status' shows their "
        "names, "
        "'urnic doctor -- {}' what could keep it from them",
        ended, command);
  }
  return fmt::format(
      "{}, and no program had looked for RDMA devices: it uses none, or LD_PRELOAD was lost on the way (a "
      "cleared environment, a static or setuid program): see 'urnic env --help' and 'urnic doctor -- {}'",
      ended, command);
}

}  // namespace urnic::cli
