// The subcommands of `urnic`. Each function adds a subcommand, its options and its help to the command line.
// The subcommand runs when it has been parsed; it throws Failure.
#pragma once

#include <CLI/CLI.hpp>

namespace urnic::cli {

void add_up(CLI::App& urnic);
void add_down(CLI::App& urnic);
void add_status(CLI::App& urnic);
void add_run(CLI::App& urnic);
void add_env(CLI::App& urnic);
void add_capture(CLI::App& urnic);
void add_counters(CLI::App& urnic);
void add_fault(CLI::App& urnic);
void add_gid(CLI::App& urnic);
void add_link(CLI::App& urnic);
void add_set(CLI::App& urnic);

}  // namespace urnic::cli
