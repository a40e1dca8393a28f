// Runs programs with the stand-in preloaded.
#pragma once

#include <string>

namespace urnic::kernel::test {

struct Outcome {
  int status;          // as $? of a shell
  std::string output;  // standard output and standard error
};

// Runs a shell command; `environment` is text "NAME=VALUE ...". Throws std::runtime_error if that cannot
// start.
Outcome run_shell(const std::string& environment, const std::string& command);

// Runs a shell command with the stand-in preloaded into the shell and all programs that the shell starts,
// with the run directory `run_directory`. `before` names libraries to preload before the stand-in.
Outcome run_preloaded(const std::string& run_directory, const std::string& command,
                      const std::string& before = "");

}  // namespace urnic::kernel::test
