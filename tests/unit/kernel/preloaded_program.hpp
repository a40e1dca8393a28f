// Programs run with the stand-in preloaded.
#pragma once

#include <string>

namespace urnic::kernel::test {

struct Outcome {
  int status;          // as $? of a shell
  std::string output;  // standard output and standard error
};

// Runs a shell command. `environment` is put before it as it is.
Outcome run_shell(const std::string& environment, const std::string& command);

// Runs `sh -c command` with the stand-in preloaded into the shell and all it starts, using `run_directory`.
// `before` names libraries to preload before the stand-in.
Outcome run_preloaded(const std::string& run_directory, const std::string& command,
                      const std::string& before = "");

}  // namespace urnic::kernel::test
