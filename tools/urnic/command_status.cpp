// urnic status: shows the devices of a running device process and the programs that use them.
#include <fmt/format.h>

#include <memory>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/lan_line.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/subnet_wait.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct StatusOptions {
  std::string name;
  bool json = false;
  bool queue_pairs = false;
};

// A JSON scalar as text, without quotes.
std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

std::string joined(const nlohmann::json& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + plain(item);
  return text;
}

void print_device(const nlohmann::json& device) {
  const nlohmann::json& wire = device.at("wire");
  const std::string leads_to =
      wire.at("kind") == "switch" ? "" : ", " + plain(wire.at("kind")) + " on " + plain(wire.at("interface"));
  const nlohmann::json& own = device.at("interface");
  const std::string interface = own.is_null() ? "" : ", interface " + plain(own);
  const nlohmann::json& pci = device.at("pci_address");
  const std::string place = pci.is_null() ? "" : ", PCI " + plain(pci);
  fmt::print("{}  link {}, MTU {}, MAC {}{}{}{}\n", plain(device.at("name")), plain(device.at("link")),
             plain(device.at("mtu")), plain(device.at("mac")), leads_to, interface, place);
  for (std::size_t index = 0; index < device.at("gids").size(); ++index) {
    fmt::print("  GID {}  {}\n", index, plain(device["gids"][index]));
  }
}

void print_context(const nlohmann::json& context) {
  std::string objects;
  for (const auto& [kind, count] : context.at("objects").items()) {
    if (count.get<int>() > 0)
      objects += fmt::format("{}{} {}", objects.empty() ? "" : ", ", count.get<int>(), kind);
  }
  fmt::print("  context {} on {}: {} (pid {}): {}\n", plain(context.at("id")), plain(context.at("device")),
             plain(context.at("program")), joined(context.at("pids")),
             objects.empty() ? "no objects" : objects);
}

// Of all programs; the device process answers in pages.
nlohmann::json ask_queue_pairs(AdminClient& client) {
  const Progress progress("asking for the queue pairs");
  nlohmann::json all = nlohmann::json::array();
  nlohmann::json request{{"cmd", "queue_pairs"}};
  for (;;) {
    const nlohmann::json answer = client.ask(request);
    for (const auto& queue_pair : answer.at("queue_pairs")) all.push_back(queue_pair);
    if (answer.at("next").is_null()) return all;
    request["after"] = answer.at("next");
  }
}

// Of a queue pair with congestion control: what it may send now, and why.
std::string allowance_of(const nlohmann::json& requester) {
  const nlohmann::json congestion = requester.value("congestion", nlohmann::json());
  if (congestion.is_null()) return {};
  std::string text = fmt::format(", {}", plain(congestion.at("algorithm")));
  if (!congestion.at("rate_gbps").is_null())
    text += fmt::format(" {:.3f} Gbit/s", congestion.at("rate_gbps").get<double>());
  if (congestion.contains("alpha"))
    text += fmt::format(" (target {:.3f}, alpha {:.3f})", congestion.at("target_gbps").get<double>(),
                        congestion.at("alpha").get<double>());
  if (congestion.contains("window_bytes"))
    text += fmt::format(" window {} bytes (round trip {:.1f} us, target {:.1f})",
                        plain(congestion.at("window_bytes")), congestion.at("round_trip_us").get<double>(),
                        congestion.at("target_delay_us").get<double>());
  return text + fmt::format(", {} notifications", plain(congestion.at("notifications")));
}

std::string details_of(const nlohmann::json& queue_pair) {
  std::string text;
  const auto add = [&text](const nlohmann::json& of, const char* member, const char* words) {
    if (of.value(member, false)) text += fmt::format(", {}", words);
  };
  const nlohmann::json requester = queue_pair.value("requester", nlohmann::json::object());
  text += allowance_of(requester);
  add(requester, "waits_for_receive", "waits for a receive (RNR)");
  add(requester, "waits_for_credit", "waits for a credit");
  add(requester, "selective_acks", "selective acks agreed");
  add(requester, "peer_is_stranger", "its peer is a stranger");
  add(queue_pair, "waits_for_memory", "waits for memory");
  add(queue_pair.value("responder", nlohmann::json::object()), "has_hole", "holds packets behind a hole");
  return text;
}

void print_queue_pair(const nlohmann::json& queue_pair) {
  fmt::print("{} context {}  QP {} {} {}", plain(queue_pair.at("device")), plain(queue_pair.at("context")),
             plain(queue_pair.at("qpn")), plain(queue_pair.at("service")), plain(queue_pair.at("state")));
  if (queue_pair.contains("requester")) {
    const nlohmann::json& requester = queue_pair["requester"];
    fmt::print(" to QP {}: {}, next PSN {}, in flight {} of {} ({} ahead, {} lost), expects PSN {}",
               plain(queue_pair.at("destination_qpn")), plain(requester.at("recovery")),
               plain(requester.at("next_psn")), plain(requester.at("in_flight")),
               plain(requester.at("window")), plain(requester.at("arrived_ahead")),
               plain(requester.at("lost")), plain(queue_pair.at("responder").at("expected_psn")));
  }
  fmt::print(", {} packets sent{}\n", plain(queue_pair.at("packets_sent")), details_of(queue_pair));
}

void show_queue_pairs(AdminClient& client, bool as_json) {
  const nlohmann::json all = ask_queue_pairs(client);
  if (as_json) {
    fmt::print("{}\n", json_lines(all));
    return;
  }
  if (all.empty()) fmt::print("there is no queue pair\n");
  for (const auto& queue_pair : all) print_queue_pair(queue_pair);
}

void status(const StatusOptions& options) {
  const std::filesystem::path directory = named_run_directory(options.name);
  if (options.queue_pairs) {
    auto client = connect_or_fail(directory);
    return show_queue_pairs(client, options.json);
  }
  const nlohmann::json answer = answer_of_device_process(options.name, {{"cmd", "status"}});
  if (options.json) {
    fmt::print("{}\n", json_lines(answer));
    return;
  }
  fmt::print("device process {} in {}\n", plain(answer.at("pid")), directory.string());
  const nlohmann::json stuck = answer.at("engine").value("stuck", nlohmann::json::array());
  for (const auto& engine : stuck) fmt::print("STUCK: {}\n", plain(engine.at("what")));
  for (const auto& device : answer.at("devices")) print_device(device);
  if (answer.contains("subnet")) fmt::print("{}\n", subnet_line(answer.at("subnet")));
  if (answer.contains("lan")) fmt::print("{}\n", lan_line(answer.at("lan")));
  if (!stuck.empty()) return;  // a stuck engine cannot say which contexts there are
  if (answer.at("contexts").empty()) fmt::print("no program uses a device\n");
  for (const auto& context : answer.at("contexts")) print_context(context);
}

}  // namespace

void add_status(Command& urnic) {
  auto options = std::make_shared<StatusOptions>();
  Command command = urnic.add_subcommand("status", "Show devices, links and the programs that use them");
  add_name_option(command, options->name);
  command.add_flag("--json", options->json, "As JSON");
  command.add_flag("--qps", options->queue_pairs,
                   "Show what each queue pair is doing: PSNs, packets in flight, what it waits for");
  command.footer("Exit status 3 if none runs.\nExample: urnic status --json | jq '.contexts[].program'");
  command.callback([options] { status(*options); });
}

}  // namespace urnic::cli
