// Measures connections by rdma_cm between two programs, beside TCP connections over loopback: how many a
// second are made and taken down, and how long one takes. Prints one JSON object.
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "command_line/command_line.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/bench/rdma_connections.hpp"
#include "tests/bench/tcp_connections.hpp"

namespace {

struct Options {
  std::string address = "127.0.0.1";
  std::size_t connections = 2000;
  std::size_t at_once = 16;
  std::size_t one_by_one = 300;
  std::size_t open = 0;
};

// A process that serves and ends with its parent.
class ServingProcess {
 public:
  // `serve` gets the end of a socket pair to write the port to.
  template <class Serve>
  explicit ServingProcess(const Serve& serve) {
    int ends[2];
    urnic::apps::require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "socketpair: {}",
                         std::strerror(errno));
    process_ = fork();
    urnic::apps::require(process_ >= 0, "fork: {}", std::strerror(errno));
    if (process_ == 0) {
      close(ends[0]);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      run(serve, ends[1]);
    }
    close(ends[1]);
    const bool told = read(ends[0], &port_, sizeof port_) == sizeof port_;
    close(ends[0]);
    urnic::apps::require(told, "the server does not begin");
  }
  ~ServingProcess() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  ServingProcess(const ServingProcess&) = delete;
  ServingProcess& operator=(const ServingProcess&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  template <class Serve>
  [[noreturn]] static void run(const Serve& serve, int told) {
    try {
      serve([told](std::uint16_t port) {
        urnic::apps::require(write(told, &port, sizeof port) == sizeof port, "the client is gone");
        close(told);
      });
    } catch (const std::exception& problem) {
      fmt::print(stderr, "connect_by_address: the server: {}\n", problem.what());
    }
    _exit(1);
  }

  pid_t process_ = -1;
  std::uint16_t port_ = 0;
};

void measure(const Options& options) {
  using namespace urnic::bench;
  const ServingProcess tcp_server([](const auto& tell) { serve_tcp(tell); });
  const ServingProcess server([&](const auto& tell) { serve_rdma(options.address, tell); });
  const TcpTimes tcp = measure_tcp(tcp_server.port(), options.connections);
  RdmaClient client(options.address, server.port());
  const RdmaTimes one = client.measure(options.one_by_one, 1);
  const RdmaTimes many = client.measure(options.connections, options.at_once);
  fmt::print(
      "{{\"per_second\": {:.1f}, \"one_us\": {:.2f}, \"one_by_one_per_second\": {:.1f}, "
      "\"tcp_per_second\": {:.1f}, \"tcp_one_us\": {:.2f}}}\n",
      many.per_second, one.typical_us, one.per_second, tcp.per_second, tcp.typical_us);
}

void hold(const Options& options) {
  using namespace urnic::bench;
  const ServingProcess server([&](const auto& tell) { serve_rdma(options.address, tell); });
  RdmaClient client(options.address, server.port());
  const HeldTimes times = client.hold(options.open, options.at_once);
  fmt::print("{{\"open\": {}, \"made_per_second\": {:.1f}, \"ended_per_second\": {:.1f}}}\n", options.open,
             times.made_per_second, times.ended_per_second);
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "How many connections a second two programs make and end by rdma_cm, beside TCP over loopback",
      "connect_by_address");
  Options options;
  app.add_option("--address", options.address, "of the server").show_default();
  app.add_option("--connections", options.connections, "how many, for the rate")
      .between(1, 1000000)
      .show_default();
  app.add_option("--at-once", options.at_once, "how many are under way at a time")
      .between(1, 1000)
      .show_default();
  app.add_option("--one-by-one", options.one_by_one, "how many, for the time of one")
      .between(1, 1000000)
      .show_default();
  app.add_option("--open", options.open, "instead: makes so many, all open at a time, then ends them")
      .between(1, 32768);
  app.footer("Example: urnic run -- connect_by_address --open 10000");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    if (options.open != 0) {
      hold(options);
    } else {
      measure(options);
    }
  } catch (const std::exception& problem) {
    fmt::print(stderr, "connect_by_address: {}\n", problem.what());
    return 1;
  }
}
