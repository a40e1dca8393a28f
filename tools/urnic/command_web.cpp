// urnic web: serves the live page (docs/live-page.md). The server is a program of its own, which this
// becomes.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/installation.hpp"
#include "tools/urnic/named_run_directory.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct WebOptions {
  std::string name;
  std::string file;
  std::string address = "127.0.0.1";
  int port = 0;
  std::vector<std::string> hosts;
  std::string token_file;
};

[[noreturn]] void become_server(std::vector<std::string> words) {
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execv(raw[0], raw.data());
  throw Failure(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
}

void web(const WebOptions& options) {
  const WebInstallation installed = find_web_installation();
  std::vector<std::string> words{installed.server.string(), "--page", installed.page.string(),     "--listen",
                                 options.address,           "--port", std::to_string(options.port)};
  for (const std::string& host : options.hosts) words.insert(words.end(), {"--host", host});
  if (!options.token_file.empty()) words.insert(words.end(), {"--token-file", options.token_file});
  if (options.file.empty()) {
    words.insert(words.end(), {"--run-dir", named_run_directory(options.name).string()});
  } else {
    words.insert(words.end(), {"--", options.file});
  }
  become_server(std::move(words));
}

}  // namespace

void add_web(Command& urnic) {
  auto options = std::make_shared<WebOptions>();
  Command command =
      urnic.add_subcommand("web", "Serve a page that shows devices, queue pairs and packets live");
  command.add_option("FILE", options->file, "Show this pcap or pcapng file instead of devices")
      .existing_file()
      .suggest("capture");
  add_name_option(command, options->name);
  command.add_option("--port", options->port, "The port; by default any that is free")
      .between(0, 65535)
      .type_name("PORT");
  command
      .add_option("--listen", options->address,
                  "The address to listen on, instead of 127.0.0.1; the page is not encrypted on its way")
      .type_name("ADDRESS");
  command
      .add_option("--host", options->hosts,
                  "A name of this host by which browsers ask, with --listen or a tunnel")
      .type_name("NAME")
      .no_more_words();
  command
      .add_option("--token-file", options->token_file,
                  "Keep the token in this file, which is made if there is none; for Prometheus, for example")
      .type_name("FILE")
      .suggest("file");
  command.footer(
      "Prints the address to open, which has the token that the page needs; ends with Ctrl-C. The page waits "
      "for a\n"
      "device process if none runs.\n"
      "Example: urnic web\n"
      "Example: urnic web lost.pcapng");
  command.callback([options] { web(*options); });
}

}  // namespace urnic::cli
