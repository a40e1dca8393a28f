// A connection to a device node, without provider and kernel stand-in: sends any bytes and descriptors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "tests/apps/programs/control_message.hpp"
#include "tests/security/device_fuzz/counts.hpp"

namespace urnic::device_fuzz {

using apps::ControlReply;
using memory::Descriptor;

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
  std::optional<ControlReply> receive();

 private:
  Counts& counts_;
  Descriptor socket_;
  bool open_ = false;
};

}  // namespace urnic::device_fuzz
