#include "tests/unit/kernel/preloaded_program.hpp"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

namespace urnic::kernel::test {

Outcome run_shell(const std::string& environment, const std::string& command) {
  std::string script = std::filesystem::temp_directory_path() / "urnic-kernel-script-XXXXXX";
  const int file = mkstemp(script.data());
  FILE* text = file < 0 ? nullptr : fdopen(file, "w");
  if (text == nullptr) throw std::runtime_error("cannot make a script");
  fputs(command.c_str(), text);
  fclose(text);

  FILE* pipe = popen(("env " + environment + " /bin/sh " + script + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  Outcome outcome = {0, {}};
  char buffer[4096];
  for (size_t size = 0; (size = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    outcome.output.append(buffer, size);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  unlink(script.c_str());
  return outcome;
}

Outcome run_preloaded(const std::string& run_directory, const std::string& command,
                      const std::string& before) {
  return run_shell("URNIC_DIR=" + run_directory + " LD_PRELOAD='" + before + " " + URNIC_KERNEL_LIBRARY + "'",
                   command);
}

}  // namespace urnic::kernel::test
