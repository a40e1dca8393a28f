// Measures how fast a program creates QPs, brings them from RESET to RTS, and destroys them. Prints one JSON
// object; a QP is one end of a connection.
#include <cstdio>
#include <exception>
#include <optional>

#include "command_line/command_line.hpp"
#include "tests/bench/connections.hpp"

namespace {

void measure(std::size_t connections) {
  using Clock = std::chrono::steady_clock;
  std::optional<urnic::bench::Connections> all;
  all.emplace(urnic::bench::ConnectionsOptions{connections});
  const auto creating = all->creating();
  const auto connecting = all->connecting();
  const auto before = Clock::now();
  all.reset();
  const std::chrono::duration<double> destroying = Clock::now() - before;
  const double qps = 2 * static_cast<double>(connections);
  fmt::print(
      "{{\"qps\": {:.0f}, \"per_second\": {:.1f}, \"create_us\": {:.2f}, \"connect_us\": {:.2f}, "
      "\"destroy_us\": {:.2f}}}\n",
      qps, qps / (creating + connecting).count(), creating.count() / qps * 1e6,
      connecting.count() / qps * 1e6, destroying.count() / qps * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "How many QPs a second a program creates and connects, on urnic0 and urnic1", "connect_rate");
  std::size_t connections = 1000;
  app.add_option("--connections", connections, "connections, of two QPs each")
      .between(1, 32768)
      .show_default();
  app.footer("Example: urnic run -- connect_rate --connections 1000");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    measure(connections);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "connect_rate: {}\n", problem.what());
    return 1;
  }
}
