// A program's end of the control protocol without the provider's good manners: sends what it is told to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/memory/descriptor.hpp"
#include "tests/apps/programs/control_message.hpp"

namespace urnic::apps {

class ControlClient {
 public:
  // Connects to the device node of `device`: uverbs0 for urnic0. Throws std::runtime_error.
  explicit ControlClient(const std::string& node = "uverbs0");

  // Sends bytes as one message with descriptors beside it; false once the connection is closed. Does not wait
  // for room if `wait` is false.
  bool send(std::span<const std::byte> message, std::span<const int> descriptors = {}, bool wait = true);
  // The next answer; empty when the connection is closed, or when none comes within a few seconds.
  std::optional<ControlReply> receive();

  // A request as the protocol wants it, and its answer.
  std::optional<ControlReply> ask(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                  std::span<const int> descriptors = {});
  template <typename Body>
  std::optional<ControlReply> ask(abi::ControlOpcode opcode, const Body& body,
                                  std::span<const int> descriptors = {}) {
    return ask(opcode, std::as_bytes(std::span(&body, 1)), descriptors);
  }
  // As above, where only success will do. Throws.
  template <typename Reply, typename Body>
  Reply demand(abi::ControlOpcode opcode, const Body& body, std::span<const int> descriptors = {}) {
    return demanded(opcode, ask(opcode, body, descriptors)).template as<Reply>();
  }

  // Opens a context with all that belongs to it. The descriptors of the answer are kept: doorbells, engine
  // status, wakeup.
  abi::OpenContextReply open_context();
  const std::vector<memory::Descriptor>& context_descriptors() const { return context_descriptors_; }
  int number() const { return socket_.get(); }

  // Throws unless the answer is a good one.
  static ControlReply demanded(abi::ControlOpcode opcode, std::optional<ControlReply> reply);

 private:
  memory::Descriptor socket_;
  std::vector<memory::Descriptor> events_;  // the pipe of asynchronous events
  std::vector<memory::Descriptor> context_descriptors_;
  std::uint32_t sequence_ = 0;
};

// What a process hands over to be known: a pidfd of itself and /proc/self/mem.
std::vector<memory::Descriptor> own_identity();

}  // namespace urnic::apps
