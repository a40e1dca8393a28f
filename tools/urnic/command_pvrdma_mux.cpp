// urnic pvrdma-mux: what QEMU's pvrdma devices ask of their host beside verbs (tools/pvrdma_mux).
#include <memory>
#include <string>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/installation.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/program_run.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct MuxOptions {
  RunOptions run;
  std::string device = "urnic0";
  std::string socket;
};

}  // namespace

void add_pvrdma_mux(Command& urnic) {
  auto options = std::make_shared<MuxOptions>();
  Command command = urnic.add_subcommand("pvrdma-mux", "Serve QEMU guests with pvrdma devices");
  command
      .add_option("--config", options->run.configuration,
                  "Devices and limits, as docs/configuration.md describes")
      .existing_file()
      .type_name("FILE")
      .suggest("file");
  add_name_option(command, options->run.name);
  command.add_option("--device", options->device, "Whose GIDs the guests get")
      .suggest("one-device")
      .show_default();
  command.add_option("--socket", options->socket, "Where QEMU's option mad-chardev finds it")
      .type_name("PATH")
      .required()
      .suggest("file");
  command.footer(
      "Gives the device the guests' addresses while they are there, and carries the guests' messages of\n"
      "connection management (rdma_cm). The device needs connection_manager = false, and max_qp = 1024\n"
      "unless QEMU's dev-caps-max-qp is larger: see docs/guests.md.\n"
      "Example: urnic pvrdma-mux --config guests.toml --device urnic0 --socket /run/user/1000/mux");
  command.callback([options] {
    options->run.command = {find_pvrdma_mux().string(), "--device", options->device, "--socket",
                            options->socket};
    options->run.explains = false;  // the mux does
    run_program(options->run);
  });
}

}  // namespace urnic::cli
