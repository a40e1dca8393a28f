// Runs a program with urnic's devices: starts the device process if none runs, waits for the program.
#pragma once

#include <string>
#include <vector>

#include "tools/urnic/capture_file.hpp"
#include "tools/urnic/capture_options.hpp"
#include "tools/urnic/infiniband_option.hpp"
#include "tools/urnic/network_option.hpp"

namespace urnic::cli {

struct RunOptions {
  std::string name;
  std::string configuration;
  std::vector<std::string> udp;
  std::string face;  // empty: as the device process has them
  InfinibandOptions infiniband;
  NetworkOptions network;
  CaptureRequest capture;
  bool wireshark = false;
  std::string faults;
  std::vector<std::string> command;
  bool explains = true;  // why a program of the user's may have failed
};

// Ends this process with the program's exit status, or 128 and the number of the signal that has killed it.
// Throws Failure with exit_run_failed, exit_not_found or exit_not_executable if it cannot be run.
[[noreturn]] void run_program(const RunOptions& options);

}  // namespace urnic::cli
