// The subcommands of `urnic`. Each function adds a subcommand, its options and its help to the command line.
// The subcommand runs when it has been parsed; it throws Failure.
#pragma once

#include "command_line/command_line.hpp"

namespace urnic::cli {

void add_up(command_line::Command& urnic);
void add_down(command_line::Command& urnic);
void add_status(command_line::Command& urnic);
void add_run(command_line::Command& urnic);
void add_env(command_line::Command& urnic);
void add_capture(command_line::Command& urnic);
void add_cdi(command_line::Command& urnic);
void add_counters(command_line::Command& urnic);
void add_doctor(command_line::Command& urnic);
void add_fault(command_line::Command& urnic);
void add_gid(command_line::Command& urnic);
void add_ladder(command_line::Command& urnic);
void add_lesson(command_line::Command& urnic);
void add_link(command_line::Command& urnic);
void add_plot(command_line::Command& urnic);
void add_pvrdma_mux(command_line::Command& urnic);
void add_set(command_line::Command& urnic);
void add_script(command_line::Command& urnic);
void add_trace(command_line::Command& urnic);
void add_web(command_line::Command& urnic);
void add_wireshark(command_line::Command& urnic);

}  // namespace urnic::cli
