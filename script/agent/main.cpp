// urnic-script-agent: an ordinary verbs program that makes the calls of packet scripts. It reads a call a
// line from its input, or from connections to a TCP port, and writes an answer a line.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "command_line/command_line.hpp"
#include "device_model/memory/descriptor.hpp"
#include "script/agent/agent.hpp"
#include "script/agent/token_gate.hpp"
#include "script/call_text.hpp"
#include "script/failed_call.hpp"
#include "trust/access_token.hpp"

namespace {

using namespace urnic::script;
using urnic::memory::Descriptor;

constexpr std::size_t kMostLine = 4 << 20;
constexpr std::size_t kMostScripts = 16;  // at once

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
  std::string listen;
  std::string token_file;
};

// Forgets those that have ended.
void reap(std::set<pid_t>& children) {
  for (auto child = children.begin(); child != children.end();)
    child = waitpid(*child, nullptr, WNOHANG) != 0 ? children.erase(child) : std::next(child);
}

// A process for each connection: a kernel that keeps one from ending does not keep the next script waiting.
void serve_connections(const Options& options) {
  if (options.token_file.empty())
    throw std::runtime_error("--listen needs --token-file: who connects can make every call");
  TokenGate gate(options.listen, urnic::trust::token_in(options.token_file));
  std::set<pid_t> children;
  for (;;) {
    const Descriptor connection = gate.next();
    reap(children);
    if (children.size() >= kMostScripts) {
      write_line(connection.get(), "too many scripts run on this agent");
      continue;
    }
    const pid_t child = fork();
    if (child < 0) fail("fork");
    if (child != 0) {
      children.insert(child);
      continue;
    }
    AgentDevice device(options.addresses);
    return serve(connection.get(), connection.get(), device);
  }
}

void run(const Options& options) {
  if (!options.listen.empty()) return serve_connections(options);
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
  line.add_option("--peer-lid", options.addresses.peer_lid,
                  "The LID of the script's port, if the device is one of InfiniBand");
  line.add_option("--listen", options.listen,
                  "Serve connections to this TCP port of 127.0.0.1, or to IPV4:PORT, not the standard input");
  line.add_option("--token-file", options.token_file,
                  "With --listen: the file of the token that connections must show; made if there is none");
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
