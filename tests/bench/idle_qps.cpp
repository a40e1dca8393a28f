// Holds connected, idle QPs while the bench observes the device process. Prints "ready" once the QPs are
// connected, and ends at the end of its standard input.
#include <cstdio>
#include <exception>

#include "command_line/command_line.hpp"
#include "tests/bench/connections.hpp"

namespace {

void stay(std::size_t connections) {
  const urnic::bench::Connections all({connections});
  fmt::print("ready\n");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "Holds connected, idle QPs between urnic0 and urnic1 until the end of its standard input", "idle_qps");
  std::size_t connections = 500;
  app.add_option("--connections", connections, "connections, of two QPs each")
      .between(1, 32768)
      .show_default();
  app.footer("Example: urnic run -- idle_qps --connections 500");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    stay(connections);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "idle_qps: {}\n", problem.what());
    return 1;
  }
}
