#include "script/live_host/agent_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "script/call_text.hpp"
#include "script/failed_call.hpp"

namespace urnic::script {
namespace {

// It is ready much sooner, however busy the machine.
constexpr std::chrono::seconds kPatience{30};

[[noreturn]] void become(const std::vector<std::string>& program,
                         const std::map<std::string, std::string>& variables, int socket) {
  dup2(socket, STDIN_FILENO);
  dup2(socket, STDOUT_FILENO);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> words;
  words.reserve(program.size() + 1);
  for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

}  // namespace

AgentConnection::AgentConnection(const std::vector<std::string>& program,
                                 const std::map<std::string, std::string>& variables) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  socket_ = memory::Descriptor(ends[0]);
  const memory::Descriptor theirs(ends[1]);
  child_ = fork();
  if (child_ < 0) fail("fork");
  if (child_ == 0) become(program, variables, theirs.get());
  wait_until_ready();
}

AgentConnection::AgentConnection(const std::string& address, const std::string& token) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  const bool right =
      colon != std::string::npos && inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr) == 1;
  const long port = right ? std::strtol(address.c_str() + colon + 1, nullptr, 10) : 0;
  if (port < 1 || port > 65535) throw std::runtime_error(address + ": an agent's address is IPV4:PORT");
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  socket_ = memory::Descriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    fail("the agent at " + address);
  const int yes = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  send_line("token " + token);
  wait_until_ready(" (is its token another one?)");
}

// The agent ends at the end of its input.
AgentConnection::~AgentConnection() {
  socket_.reset();
  if (child_ <= 0) return;
  for (int i = 0; i < 500; ++i) {
    if (waitpid(child_, nullptr, WNOHANG) != 0) return;
    usleep(10'000);
  }
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void AgentConnection::wait_until_ready(const std::string& hint) try {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::optional<std::string> line;
  while (!(line = read_line())) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("the agent does not get ready");
    pollfd readable{socket_.get(), POLLIN, 0};
    poll(&readable, 1, 100);
  }
  if (*line != "ok") throw std::runtime_error("the agent is not ready; it says: " + *line);
} catch (const std::runtime_error& error) {
  throw std::runtime_error(error.what() + hint);
}

std::optional<std::string> AgentConnection::read_line() {
  std::size_t end = received_.find('\n');
  if (end == std::string::npos) {
    char bytes[65536];
    const ssize_t count = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (count <= 0) throw std::runtime_error("the agent has ended: what it wrote says why");
    received_.append(bytes, static_cast<std::size_t>(count));
    end = received_.find('\n');
    if (end == std::string::npos) return {};
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

void AgentConnection::begin(const Call& call) { send_line(to_line(call)); }

void AgentConnection::send_line(std::string line) {
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t count = send(socket_.get(), line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (count < 0) throw std::runtime_error("the agent has ended: what it wrote says why");
    done += static_cast<std::size_t>(count);
  }
}

std::optional<Answer> AgentConnection::answer() {
  const std::optional<std::string> line = read_line();
  if (!line) return {};
  std::optional<Answer> answer = answer_of_line(*line);
  if (!answer) throw std::runtime_error("the agent's answer makes no sense: " + *line);
  return answer;
}

}  // namespace urnic::script
