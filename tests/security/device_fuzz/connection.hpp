// A connection to a device node, without the provider and the kernel stand-in between: whatever bytes and
// descriptors.
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

// A descriptor with an owner.
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

  // Zero where the body is shorter.
  template <typename Body>
  Body as() const {
    Body result{};
    std::memcpy(&result, body.data(), body.size() < sizeof result ? body.size() : sizeof result);
    return result;
  }
};

class Connection {
 public:
  // `node` is the path of the socket. Not open if the device process turns it away.
  Connection(const std::string& node, Counts& counts);

  bool is_open() const { return open_; }
  int number() const { return socket_.get(); }

  // One message of these bytes, with up to 253 descriptors beside it, which stay the caller's. Does not wait
  // for room; false if it was not sent.
  bool send(std::span<const std::byte> message, std::span<const int> descriptors);
  // The next answer. Empty when the connection has been closed, or when none comes (which is counted).
  std::optional<Answer> receive();

 private:
  Counts& counts_;
  Owned socket_;
  bool open_ = false;
};

// A request's bytes: a header that is right, and the body.
std::vector<std::byte> with_header(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                   std::uint32_t sequence);

}  // namespace urnic::device_fuzz
