// The command's end of a device process's admin socket: one JSON object per line each way, and descriptors
// beside an answer that promises them (docs/admin-socket.md).
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_model/memory/descriptor.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {

// The device process has answered with an error; what() is its own words. The conversation goes on.
struct RequestRefused : Failure {
  using Failure::Failure;
};

// The connection has ended without an answer, as when the device process ends.
struct ConversationEnded : Failure {
  ConversationEnded() : Failure("the device process ended the conversation") {}
};

class AdminClient {
 public:
  // Empty if no device process listens there. Throws Failure if one does but is another user's or cannot be
  // reached.
  static std::optional<AdminClient> connect(const std::filesystem::path& run_directory);

  // How long `ask` waits for an answer: no request takes nearly as long, however busy the machine.
  static constexpr std::chrono::seconds kPatience{20};

  // Sends a request and waits for its answer. Throws RequestRefused if that is an error, ConversationEnded if
  // the connection ends, another Failure if no answer comes.
  nlohmann::json ask(const nlohmann::json& request);

  // Descriptors that came with the last answer; they are the caller's now.
  std::vector<memory::Descriptor> take_descriptors() { return std::move(descriptors_); }

  int descriptor() const { return socket_.get(); }

 private:
  explicit AdminClient(memory::Descriptor socket) : socket_(std::move(socket)) {}
  // Receives more of the answer; false at the connection's end. Throws Failure after `deadline`, naming the
  // request `what`.
  bool receive_some(std::chrono::steady_clock::time_point deadline, const std::string& what);

  memory::Descriptor socket_;
  std::string received_;
  std::vector<memory::Descriptor> descriptors_;
};

// Like AdminClient::connect, but throws Failure with exit_not_running if no device process runs.
AdminClient connect_or_fail(const std::filesystem::path& run_directory);

}  // namespace urnic::cli
