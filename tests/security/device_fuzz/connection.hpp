// A connection to a device node, without provider and kernel stand-in: sends any bytes and descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/abi/control.hpp"
#include "tests/security/device_fuzz/counts.hpp"

namespace urnic::device_fuzz {

// A descriptor that is closed with its owner.
class Owned {
 public:
  Owned() = default;
  explicit Owned(int number) : number_(number) {}
  Owned(Owned&& other) noexcept : number_(other.release()) {}
  Owned& operator=(Owned&& other) noexcept;
  ~Owned();
  int get() const { return number_; }
  int release();

 private:
  int number_ = -1;
};

struct Answer {
  abi::ReplyHeader header{};
  std::vector<std::byte> body;
  std::vector<Owned> descriptors;

  // The answer's body; members beyond its end are zero.
  template <typename Body>
  Body as() const {
    Body result{};
    std::memcpy(&result, body.data(), body.size() < sizeof result ? body.size() : sizeof result);
    return result;
  }
};

class Connection {
 public:
  // Connects to the socket `node`. Not open if the device process refuses the connection.
  Connection(const std::string& node, Counts& counts);

  bool is_open() const { return open_; }
  int number() const { return socket_.get(); }

  // Sends one message of these bytes, with up to 253 descriptors, which stay the caller's. Does not wait for
  // room; false if it was not sent.
  bool send(std::span<const std::byte> message, std::span<const int> descriptors);
  // Receives the next answer. Empty if the connection has been closed, or if none comes in time (which is
  // counted).
  std::optional<Answer> receive();

 private:
  Counts& counts_;
  Owned socket_;
  bool open_ = false;
};

// A request's bytes: a valid header, and the body.
std::vector<std::byte> with_header(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                   std::uint32_t sequence);

}  // namespace urnic::device_fuzz
