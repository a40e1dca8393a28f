// What a child process prints.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace urnic::cli::doctor {

struct ChildOutput {
  std::string output;
  std::string errors;
  int status = -1;  // exit status; -1: a signal ended it, or it could not be started
};

// Runs the file `words[0]` with these arguments, and with `variables` set in its environment, for at most ten
// seconds; then it is killed. Reads both of its streams, 64 KiB of each at most.
ChildOutput output_of(const std::vector<std::string>& words,
                      const std::map<std::string, std::string>& variables);

}  // namespace urnic::cli::doctor
