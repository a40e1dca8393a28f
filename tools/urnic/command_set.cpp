// urnic set: changes how a running device process works from now on.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/named_run_directory.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct RecoveryOptions {
  std::string name;
  std::string mode;
  std::string device;
  std::optional<std::uint32_t> queue_pair;
};

void set_recovery(const RecoveryOptions& options) {
  nlohmann::json request{{"cmd", "set"}, {"recovery", options.mode}};
  if (!options.device.empty()) request["device"] = options.device;
  if (options.queue_pair) request["qp"] = *options.queue_pair;
  const auto answer = answer_of_device_process(options.name, request);
  fmt::print("{} queue pairs recover by {} from now on{}\n", json_text(answer.at("queue_pairs")),
             options.mode, options.queue_pair ? "" : ", and those made later");
}

}  // namespace

void add_set(Command& urnic) {
  auto options = std::make_shared<RecoveryOptions>();
  Command command = urnic.add_subcommand("set", "Change how a running device process works");
  command.require_subcommand();
  command.footer("Example: urnic set recovery sack --device urnic0");
  Command recovery = command.add_subcommand("recovery", "How queue pairs recover from loss");
  recovery
      .add_option("MODE", options->mode,
                  "The way that lost packets are found and repeated (docs/loss-recovery.md)")
      .required()
      .one_of({"gbn", "selective", "irn", "sack"});
  recovery
      .add_option("--device", options->device,
                  "Only this device's queue pairs; all: every device's, the default")
      .type_name("DEVICE")
      .suggest("device");
  recovery.add_option("--qp", options->queue_pair, "Only the queue pair of this number").type_name("QPN");
  add_name_option(recovery, options->name);
  recovery.footer("Example: urnic set recovery sack --device urnic0");
  recovery.callback([options] { set_recovery(*options); });
}

}  // namespace urnic::cli
