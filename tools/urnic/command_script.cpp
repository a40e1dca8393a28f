// urnic script: runs packet scripts, which are one end of a connection with a device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "script/language/parser.hpp"
#include "script/packets/packet_fields.hpp"
#include "script/report/report.hpp"
#include "script/run/runner.hpp"
#include "script/virtual_host/virtual_host.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/script_host.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

constexpr const char* kSuffix = ".packets";

struct ScriptOptions {
  std::vector<std::string> files;
  bool is_virtual = false;
  bool live = false;
  bool check = false;
  bool json = false;
  bool verbose = false;
  std::vector<std::string> values;
  double patience_s = 0;
  double tolerance_ms = 100;
  LiveScriptOptions host;
};

// The named files, and those in the named folders.
std::vector<std::string> script_files(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    if (!std::filesystem::is_directory(name)) {
      files.push_back(name);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(name))
      if (entry.path().extension() == kSuffix) files.push_back(entry.path().string());
    if (files.size() == before)
      throw Failure(fmt::format("{}: there is no script in it: a file {}", name, kSuffix));
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

std::string read_script(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Failure(fmt::format("{} cannot be read", file));
  return text;
}

std::map<std::string, std::uint64_t> values_of(const std::vector<std::string>& settings) {
  std::map<std::string, std::uint64_t> values;
  for (const std::string& setting : settings) {
    const std::size_t sign = setting.find('=');
    const bool is_hexadecimal = sign != std::string::npos && setting.compare(sign + 1, 2, "0x") == 0;
    const char* const begin = setting.c_str() + (sign == std::string::npos ? setting.size() : sign + 1);
    const char* const end = setting.c_str() + setting.size();
    std::uint64_t value = 0;
    const auto [behind, error] =
        std::from_chars(begin + (is_hexadecimal ? 2 : 0), end, value, is_hexadecimal ? 16 : 10);
    if (sign == 0 || begin == end || error != std::errc() || behind != end)
      throw Failure(fmt::format("--set {}: needed is NAME=NUMBER", setting), exit_usage);
    values[setting.substr(0, sign)] = value;
  }
  return values;
}

script::RunSettings settings_of(const ScriptOptions& options) {
  script::RunSettings settings;
  settings.values = values_of(options.values);
  const double patience = options.patience_s != 0 ? options.patience_s : options.live ? 2 : 10;
  settings.patience =
      std::chrono::duration_cast<script::Nanoseconds>(std::chrono::duration<double>(patience));
  if (options.live)
    settings.tolerance = std::chrono::duration_cast<script::Nanoseconds>(
        std::chrono::duration<double, std::milli>(options.tolerance_ms));
  return settings;
}

// A line for each statement, as it begins.
void follow(script::RunSettings& settings, const std::string& text) {
  settings.on_statement = [text](const script::Statement& statement, script::Nanoseconds since) {
    std::size_t begin = 0;
    for (std::uint32_t line = 1; line < statement.at.line; ++line) begin = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, text.find('\n', begin) - begin);
    fmt::print("{:>14.6f} ms {:>5}  {}\n", std::chrono::duration<double, std::milli>(since).count(),
               statement.at.line, line);
  };
}

script::Outcome run_file(const std::string& file, const std::string& text, const ScriptOptions& options,
                         script::RunSettings settings, LiveScriptHosts& hosts) {
  // With --verbose the statements tell how far it is.
  std::optional<Progress> progress;
  if (!options.verbose) progress.emplace("running " + file);
  try {
    const script::Script parsed = script::parse(text, script::is_packet_field);
    if (options.check) return {};
    if (options.verbose) follow(settings, text);
    const std::unique_ptr<script::Host> host = options.live
                                                   ? hosts.make(parsed.link_layer)
                                                   : std::make_unique<script::VirtualHost>(parsed.link_layer);
    return script::Runner(parsed, *host, settings).run();
  } catch (const script::ScriptError& error) {
    return script::outcome_of(error);
  } catch (const NoSuchLink& error) {
    script::Outcome outcome;
    outcome.left_out = error.what();
    return outcome;
  }
}

int run_all(const ScriptOptions& options) {
  const script::RunSettings settings = settings_of(options);
  const std::vector<std::string> files = script_files(options.files);
  nlohmann::json all = nlohmann::json::array();
  std::size_t failed = 0;
  std::size_t left_out = 0;
  LiveScriptHosts hosts(options.host);
  for (const std::string& file : files) {
    const std::string text = read_script(file);
    const script::Outcome outcome = run_file(file, text, options, settings, hosts);
    failed += outcome.failure.has_value();
    left_out += !outcome.left_out.empty();
    if (options.json) all.push_back(script::report_json(file, outcome));
    if (!options.json) fmt::print("{}", script::report(file, text, outcome));
    std::fflush(stdout);
  }
  if (options.json) fmt::print("{}\n", json_lines(all));
  if (!options.json && files.size() > 1)
    fmt::print("{} scripts: {} passed, {} failed, {} left out\n", files.size(),
               files.size() - failed - left_out, failed, left_out);
  return failed == 0 ? exit_ok : exit_failed;
}

}  // namespace

void add_script(Command& urnic) {
  auto options = std::make_shared<ScriptOptions>();
  Command command = urnic.add_subcommand("script", "Run packet scripts, which are a device's peer");
  command.add_option("FILE", options->files, "Scripts, or folders with scripts (docs/packet-scripts.md)")
      .required()
      .suggest("file");
  command.add_flag("--virtual", options->is_virtual,
                   "With a device in this process, under virtual time: the default");
  command.add_flag("--live", options->live, "With a device that runs");
  command.option("--virtual").excludes(command.option("--live"));
  command.add_flag("--check", options->check, "Only read the scripts, and say whether they are right");
  command
      .add_option("--device", options->host.device,
                  "Live: the device under test; the first one is the default")
      .type_name("DEVICE")
      .suggest("one-device");
  add_name_option(command, options->host.name);
  command.add_option("--set", options->values, "Give a variable of the script (let) another value")
      .type_name("NAME=NUMBER")
      .no_more_words();
  command
      .add_option("--patience", options->patience_s,
                  "How long to wait for what is expected at no certain time: 10 in virtual time, 2 live")
      .type_name("SECONDS");
  command
      .add_option("--tolerance", options->tolerance_ms,
                  "Live: how late something may be that is expected at a time")
      .type_name("MILLISECONDS")
      .show_default();
  command
      .add_option("--settle", options->host.settle_ms,
                  "Live: how long the device may take for what it does not answer")
      .type_name("MILLISECONDS")
      .show_default();
  command.add_option("--script-mac", options->host.script_mac, "Live: the MAC address of the script's port")
      .type_name("MAC")
      .show_default();
  command.add_option("--script-gid", options->host.script_gid, "Live: the GID of the script's port")
      .type_name("GID")
      .show_default();
  command
      .add_option("--script-host", options->host.script_host,
                  "Live, on InfiniBand: the host of the fabric that the script is")
      .type_name("NAME")
      .show_default();
  command
      .add_option("--lan", options->host.lan,
                  "Live: a peer on a real wire, behind this UNIX socket of Ethernet frames")
      .type_name("PATH")
      .suggest("file");
  command.add_option("--agent", options->host.agent, "The peer's urnic-script-agent").type_name("IPV4:PORT");
  command.add_option("--agent-token-file", options->host.agent_token_file, "The token that it asks for")
      .type_name("FILE")
      .suggest("file");
  command.add_option("--device-mac", options->host.device_mac, "The peer's MAC address").type_name("MAC");
  command.add_option("--device-gid", options->host.device_gid, "The peer's GID").type_name("GID");
  command.add_flag("-v,--verbose", options->verbose, "Show each statement as it is executed");
  command.add_flag("--json", options->json, "The results as JSON");
  command.footer(
      "Exit status: 0, all scripts passed; 1, one failed.\n"
      "Example: urnic script first.packets\n"
      "Example: urnic script --live --device urnic0 first.packets");
  command.callback([options] {
    if (const int status = run_all(*options); status != exit_ok) std::exit(status);
  });
}

}  // namespace urnic::cli
