// urnic set: changes how a running device process works from now on.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/setting_arguments.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct SetOptions {
  std::string name;
  std::string mode;
  std::vector<std::string> settings;
  std::string device;
  std::optional<std::uint32_t> queue_pair;
};

nlohmann::json request_of(const SetOptions& options, const char* what) {
  nlohmann::json request{{"cmd", "set"}, {what, options.mode}};
  if (!options.device.empty()) request["device"] = options.device;
  if (options.queue_pair) request["qp"] = *options.queue_pair;
  return request;
}

const char* and_later(const SetOptions& options) {
  return options.queue_pair ? "" : ", and those made later";
}

// Which device's, or which queue pair.
void add_selection(Command& command, SetOptions& options) {
  command
      .add_option("--device", options.device,
                  "Only this device's queue pairs; all: every device's, the default")
      .type_name("DEVICE")
      .suggest("device");
  command.add_option("--qp", options.queue_pair, "Only the queue pair of this number").type_name("QPN");
  add_name_option(command, options.name);
}

void set_recovery(const SetOptions& options) {
  const auto answer = answer_of_device_process(options.name, request_of(options, "recovery"));
  fmt::print("{} queue pairs recover by {} from now on{}\n", json_text(answer.at("queue_pairs")),
             options.mode, and_later(options));
}

void set_congestion(const SetOptions& options) {
  nlohmann::json request = request_of(options, "congestion");
  request["settings"] = parse_settings(options.settings, "dcqcn_additive_mbps=100");
  const auto answer = answer_of_device_process(options.name, request);
  const std::string count = json_text(answer.at("queue_pairs"));
  if (options.mode == "off") {
    fmt::print("{} queue pairs send without congestion control from now on{}\n", count, and_later(options));
  } else {
    fmt::print("{} queue pairs control congestion by {} from now on{}\n", count, options.mode,
               and_later(options));
  }
}

void add_recovery(Command& set, const std::shared_ptr<SetOptions>& options) {
  Command recovery = set.add_subcommand("recovery", "How queue pairs recover from loss");
  recovery
      .add_option("MODE", options->mode,
                  "The way that lost packets are found and repeated (docs/loss-recovery.md)")
      .required()
      .one_of({"gbn", "selective", "irn", "sack"});
  add_selection(recovery, *options);
  recovery.footer("Example: urnic set recovery sack --device urnic0");
  recovery.callback([options] { set_recovery(*options); });
}

void add_congestion(Command& set, const std::shared_ptr<SetOptions>& options) {
  Command congestion = set.add_subcommand("congestion", "How queue pairs avoid congestion");
  congestion
      .add_option("ALGORITHM", options->mode,
                  "By congestion notifications (dcqcn), by round trips (rtt, timely), or not at all "
                  "(docs/congestion.md)")
      .required()
      .one_of({"off", "dcqcn", "rtt", "timely"});
  congestion.add_option("SETTING", options->settings, "KEY=VALUE, as docs/congestion.md lists");
  add_selection(congestion, *options);
  congestion.footer("Example: urnic set congestion dcqcn dcqcn_additive_mbps=100 --device urnic0");
  congestion.callback([options] { set_congestion(*options); });
}

}  // namespace

void add_set(Command& urnic) {
  Command command = urnic.add_subcommand("set", "Change how a running device process works");
  command.require_subcommand();
  command.footer("Example: urnic set recovery sack --device urnic0");
  add_recovery(command, std::make_shared<SetOptions>());
  add_congestion(command, std::make_shared<SetOptions>());
}

}  // namespace urnic::cli
