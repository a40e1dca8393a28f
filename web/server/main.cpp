// urnic-web: the server of the live page. `urnic web` starts it. Reading order: this file, then
// live_routes.cpp.
#include <fmt/format.h>
#include <signal.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "command_line/command_line.hpp"
#include "trust/access_token.hpp"
#include "web/server/file_routes.hpp"
#include "web/server/live_routes.hpp"

namespace urnic::web {
namespace {

struct Options {
  WebServer::Options server;
  std::string run_directory;
  std::string file;
  std::string token_file;
};

sigset_t end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

// Until a signal comes, which all threads leave to this one.
void serve(WebServer& server, StopSignal& stop) {
  fmt::print("urnic: open {}\n", server.address());
  std::fflush(stdout);
  const sigset_t signals = end_signals();
  std::thread serving([&server] { server.serve(); });
  int signal = 0;
  sigwait(&signals, &signal);
  stop.stop();
  server.stop();
  serving.join();
}

void run(Options options) {
  const sigset_t signals = end_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  options.server.token =
      options.token_file.empty() ? trust::new_token() : trust::token_in(options.token_file);
  StopSignal stop;
  if (!options.file.empty()) {
    const FileCapture file(options.file);
    WebServer server(options.server);
    add_file_routes(server, file);
    return serve(server, stop);
  }
  DeviceConnection devices(options.run_directory);
  Overview overview(devices);
  LiveLadders ladders(devices);
  WebServer server(options.server);
  add_live_routes(server, {devices, overview, ladders, stop});
  serve(server, stop);
}

}  // namespace
}  // namespace urnic::web

int main(int argc, char** argv) {
  using namespace urnic::web;
  Options options;
  std::string page;
  urnic::command_line::CommandLine line("The server of urnic's live page, which 'urnic web' starts.",
                                        "urnic-web");
  line.version("urnic-web " URNIC_VERSION);
  line.add_option("FILE", options.file, "A capture file to show instead of devices");
  line.add_option("--run-dir", options.run_directory, "The device process's run directory").type_name("DIR");
  line.add_option("--page", page, "The folder of the page's files").required().type_name("DIR");
  line.add_option("--listen", options.server.address, "The address to listen on").type_name("ADDRESS");
  line.add_option("--port", options.server.port, "The port; 0: any").between(0, 65535);
  line.add_option("--host", options.server.hosts, "A name by which browsers may ask").type_name("NAME");
  line.add_option("--token-file", options.token_file, "Where the token is kept").type_name("FILE");
  int status = 0;
  if (!line.parse(argc, argv, status)) return status;
  options.server.page = page;
  try {
    run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "urnic: {}\n", error.what());
    return 1;
  }
  return 0;
}
