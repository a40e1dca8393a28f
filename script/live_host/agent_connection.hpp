// The script's end of a conversation with an agent (script/agent): a call a line, an answer a line.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "script/call.hpp"

namespace urnic::script {

class AgentConnection {
 public:
  // Starts the program with these arguments and with `variables` added to the environment. It ends with this.
  // Throws std::runtime_error if it is not ready within some seconds.
  AgentConnection(const std::vector<std::string>& program,
                  const std::map<std::string, std::string>& variables);
  // To an agent that serves connections; `address` is IPV4:PORT, `token` what it asks for.
  AgentConnection(const std::string& address, const std::string& token);
  ~AgentConnection();
  AgentConnection(const AgentConnection&) = delete;
  AgentConnection& operator=(const AgentConnection&) = delete;

  // Makes a call; its answer comes later, and before the next call. Both throw std::runtime_error if the
  // agent has ended.
  void begin(const Call& call);
  // Empty: it has not come.
  std::optional<Answer> answer();
  // Readable when the answer may have come.
  int descriptor() const { return socket_.get(); }

 private:
  std::optional<std::string> read_line();
  // `hint` is put behind what an error says.
  void wait_until_ready(const std::string& hint = "");
  void send_line(std::string line);

  memory::Descriptor socket_;
  pid_t child_ = 0;
  std::string received_;
};

}  // namespace urnic::script
