// A program on the admin socket of a device process that runs in the test.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "tests/unit/control/running_process.hpp"

namespace urnic::control::test {

// A conversation on the admin socket.
class AdminProgram {
 public:
  explicit AdminProgram(const RunningProcess& process);

  // Sends anything.
  void send_text(const std::string& text);
  // The next line; empty once the conversation is over.
  std::string receive_line();
  nlohmann::json ask(const nlohmann::json& request);
  int descriptor() const { return socket_.get(); }

  std::vector<memory::Descriptor> descriptors;  // that have come with answers

 private:
  memory::Descriptor socket_;
  std::string received_;
};

}  // namespace urnic::control::test
