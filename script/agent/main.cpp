// urnic-script-agent: an ordinary verbs program that makes the calls of packet scripts. It reads a call a
// line from its input, or from the first connection to a TCP port, and writes an answer a line.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

#include "command_line/command_line.hpp"
#include "device_model/memory/descriptor.hpp"
#include "script/agent/agent.hpp"
#include "script/call_text.hpp"
#include "script/failed_call.hpp"

namespace {

using namespace urnic::script;
using urnic::memory::Descriptor;

constexpr std::size_t kMostLine = 4 << 20;

Descriptor listen_on(std::uint16_t port) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("bind");
  if (listen(listener.get(), 1) != 0) fail("listen");
  return listener;
}

Descriptor accept_from(const Descriptor& listener) {
  Descriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) fail("accept");
  const int yes = 1;
  setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return connection;
}

void write_line(int descriptor, std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = write(descriptor, line.data() + done, line.size() - done);
    if (count < 0) fail("write");
    done += static_cast<std::size_t>(count);
  }
}

// Until the end of the input: one script's calls.
void serve(int input, int output, AgentDevice& device) {
  Agent agent(device);
  write_line(output, "ok");
  std::string received;
  char bytes[65536];
  for (;;) {
    const ssize_t count = read(input, bytes, sizeof bytes);
    if (count <= 0) return;
    received.append(bytes, static_cast<std::size_t>(count));
    for (std::size_t end = received.find('\n'); end != std::string::npos; end = received.find('\n')) {
      const auto call = call_of_line(received.substr(0, end));
      received.erase(0, end + 1);
      const Answer answer = call ? agent.call(*call) : Answer{.refusal = "EINVAL: the line is no call"};
      write_line(output, to_line(answer));
    }
    if (received.size() > kMostLine) return;
  }
}

struct Options {
  AgentAddresses addresses;
  int port = 0;
};

// A process for each connection: a kernel that keeps one from ending does not keep the next script waiting.
void serve_connections(const Options& options) {
  const Descriptor listener = listen_on(static_cast<std::uint16_t>(options.port));
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    const Descriptor connection = accept_from(listener);
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child != 0) continue;
    AgentDevice device(options.addresses);
    return serve(connection.get(), connection.get(), device);
  }
}

void run(const Options& options) {
  if (options.port != 0) return serve_connections(options);
  AgentDevice device(options.addresses);
  serve(STDIN_FILENO, STDOUT_FILENO, device);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  urnic::command_line::CommandLine line("Makes the verbs calls of packet scripts (urnic script).",
                                        "urnic-script-agent");
  line.add_option("--device", options.addresses.device, "The RDMA device").required();
  line.add_option("--gid", options.addresses.gid, "The device's GID").required();
  line.add_option("--peer", options.addresses.peer, "The GID of the script's port").required();
  line.add_option("--listen", options.port, "Serve connections to this TCP port, not the standard input")
      .between(1, 65535);
  int status = 0;
  if (!line.parse(argc, argv, status)) return status;
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "urnic-script-agent: %s\n", error.what());
    return 1;
  }
  return 0;
}
