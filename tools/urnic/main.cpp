// urnic: the command that starts, shows and uses a software RDMA NIC. Reading order: this file, then
// command_run.cpp.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "terminal/harmless_text.hpp"
#include "tools/urnic/command_description.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/suggestions.hpp"

namespace {

// The message may quote a file that somebody else has written.
int fail(const char* message, int status) {
  fmt::print(stderr, "urnic: {}\n", urnic::terminal::harmless(message, '?', '\n'));
  return status;
}

// For programs, not for people: --help does not name them. True: the command line was one of these.
bool serve_programs(const urnic::command_line::CommandLine& urnic, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (argc == 2 && word == "--describe") {
    fmt::print("{}\n", urnic::cli::description_of(urnic));
    return true;
  }
  if (argc != 3 || word != "--suggest") return false;
  for (const std::string& suggestion : urnic::cli::suggestions(argv[2])) fmt::print("{}\n", suggestion);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace urnic::cli;
  using urnic::command_line::CommandLine, urnic::command_line::WrongUsage;
  CommandLine urnic(
      "An RDMA NIC made of software: unmodified verbs programs, no hardware, no kernel module, no root.",
      "urnic");
  urnic.require_subcommand();
  urnic.version("urnic " URNIC_VERSION);
  urnic.footer("Example: urnic run -- ibv_devinfo\nEvery command has its own --help.");
  add_run(urnic);
  add_up(urnic);
  add_down(urnic);
  add_status(urnic);
  add_env(urnic);
  add_capture(urnic);
  add_cdi(urnic);
  add_counters(urnic);
  add_doctor(urnic);
  add_fault(urnic);
  add_gid(urnic);
  add_ladder(urnic);
  add_lesson(urnic);
  add_link(urnic);
  add_plot(urnic);
  add_pvrdma_mux(urnic);
  add_script(urnic);
  add_set(urnic);
  add_trace(urnic);
  add_web(urnic);
  add_wireshark(urnic);
  try {
    if (serve_programs(urnic, argc, argv)) return exit_ok;
    if (argc > 1 && argv[1][0] != '-' && !urnic.has_subcommand(argv[1])) {
      throw Failure(fmt::format("there is no command '{}' (see urnic --help)", argv[1]), exit_usage);
    }
    urnic.parse(argc, argv);
  } catch (const WrongUsage& error) {
    return fail(fmt::format("{} (see urnic --help)", error.what()).c_str(), exit_usage);
  } catch (const Failure& failure) {
    return fail(failure.what(), failure.status());
  } catch (const std::exception& error) {
    return fail(error.what(), exit_failed);
  }
  return exit_ok;
}
