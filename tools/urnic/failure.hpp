// How a command of urnic ends when it fails.
#pragma once

#include <stdexcept>
#include <string>

namespace urnic::cli {

// Exit statuses that scripts can rely on. `urnic run` uses those of env(1) and nohup(1) for its own failures,
// so that they differ from most statuses of the command that it runs.
enum ExitStatus : int {
  exit_ok = 0,
  exit_failed = 1,            // failed; one line on stderr says why
  exit_usage = 2,             // unknown option or argument
  exit_not_running = 3,       // no device process of that name runs
  exit_run_failed = 125,      // `run`: urnic itself failed
  exit_not_executable = 126,  // `run`: the command cannot be started or cannot be preloaded
  exit_not_found = 127,       // `run`: there is no such command
};

// Carries the one line that the user sees, and the exit status.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& message, int status = exit_failed)
      : std::runtime_error(message), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

}  // namespace urnic::cli
