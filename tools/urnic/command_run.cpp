// urnic run: runs a command that sees urnic's devices. Starts the device process if none runs, waits for the
// command and ends with its exit status.
#include <memory>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/face_option.hpp"
#include "tools/urnic/infiniband_option.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/program_run.hpp"
#include "tools/urnic/udp_option.hpp"

namespace urnic::cli {

using command_line::Command;

void add_run(Command& urnic) {
  auto options = std::make_shared<RunOptions>();
  Command command = urnic.add_subcommand("run", "Run a program with urnic's RDMA devices");
  command
      .add_option("--config", options->configuration,
                  "Devices and limits, as docs/configuration.md describes")
      .existing_file()
      .type_name("FILE")
      .suggest("file");
  add_udp_option(command, options->udp);
  add_face_option(command, options->face);
  add_network_options(command, options->network);
  add_infiniband_options(command, options->infiniband);
  add_name_option(command, options->name);
  command
      .add_option("--capture", options->capture.file,
                  "Write every packet to this .pcap or .pcapng file meanwhile")
      .type_name("FILE")
      .suggest("capture");
  add_points_option(command, options->capture.points);
  add_snaplen_option(command, options->capture.snaplen);
  command.add_flag("--wireshark", options->wireshark,
                   "Open Wireshark with a live capture; where it has no display, write to a named pipe");
  command.option("--wireshark").excludes(command.option("--capture"));
  command
      .add_option("--faults", options->faults, "A fault plan in force meanwhile, as docs/faults.md describes")
      .existing_file()
      .type_name("FILE")
      .suggest("file");
  command.add_option("COMMAND", options->command, "The program and its arguments, behind --")
      .required()
      .suggest("program");
  command.positionals_at_end();
  command.footer(
      "Starts a device process if none of that name runs; it ends by itself once unused. The exit status is "
      "the\n"
      "command's; 125: urnic failed, 126: the command cannot be started or preloaded, 127: there is none.\n"
      "A command that clears the environment of what it starts (env -i, sudo, launchers of MPI, ssh) hides "
      "the\n"
      "devices from it: see urnic env --wrapper.\n"
      "Example: urnic run --capture pingpong.pcap -- ibv_rc_pingpong -d urnic0 -g 1\n"
      "Example: urnic run --udp 10.0.0.1 -- ib_write_bw -d urnic0 -x 0\n"
      "Example: urnic run --face mlx5 -- ibv_devices\n"
      "Example: urnic run --infiniband -- ibstat");
  command.callback([options] { run_program(*options); });
}

}  // namespace urnic::cli
