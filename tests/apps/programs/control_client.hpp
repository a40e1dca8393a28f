// A program's end of the control protocol without the provider's good manners: sends what it is told to.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/abi/control.hpp"

namespace urnic::apps {

// Descriptors that are closed with it.
class OwnedDescriptors {
 public:
  OwnedDescriptors() = default;
  explicit OwnedDescriptors(std::vector<int> numbers) : numbers_(std::move(numbers)) {}
  OwnedDescriptors(OwnedDescriptors&& other) noexcept : numbers_(std::move(other.numbers_)) {
    other.numbers_.clear();
  }
  OwnedDescriptors& operator=(OwnedDescriptors&& other) noexcept {
    numbers_.swap(other.numbers_);
    return *this;
  }
  ~OwnedDescriptors();

  void add(int number) { numbers_.push_back(number); }
  std::size_t size() const { return numbers_.size(); }
  int operator[](std::size_t index) const { return numbers_.at(index); }
  std::span<const int> numbers() const { return numbers_; }

 private:
  std::vector<int> numbers_;
};

struct ControlReply {
  abi::ReplyHeader header{};
  std::vector<std::byte> body;
  OwnedDescriptors descriptors;

  template <typename Body>
  Body as() const {
    Body result{};
    std::memcpy(&result, body.data(), std::min(body.size(), sizeof result));
    return result;
  }
};

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
  const OwnedDescriptors& context_descriptors() const { return context_descriptors_; }
  int number() const { return socket_[0]; }

  // Throws unless the answer is a good one.
  static ControlReply demanded(abi::ControlOpcode opcode, std::optional<ControlReply> reply);

 private:
  OwnedDescriptors socket_;
  OwnedDescriptors events_;
  OwnedDescriptors context_descriptors_;
  std::uint32_t sequence_ = 0;
};

// A request's bytes: header and body.
std::vector<std::byte> control_message(std::uint32_t opcode, std::span<const std::byte> body,
                                       std::uint32_t sequence);

// What a process hands over to be known: a pidfd of itself and /proc/self/mem.
OwnedDescriptors own_identity();

}  // namespace urnic::apps
