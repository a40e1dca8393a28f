// What a script acts on: a device with a program that uses it, and a port beside the device's, from which the
// script sends frames and where it sees those that come. One implementation under virtual time, one live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/transport/time.hpp"
#include "script/language/syntax_tree.hpp"
#include "wire/network_headers.hpp"

namespace urnic::script {

using transport::Nanoseconds;
using transport::Time;

using Bytes = std::vector<std::byte>;

// A frame at the script's port, from the Ethernet header to the ICRC.
struct SeenFrame {
  Bytes bytes;
  Time at{};
};

// Bytes of a memory region.
struct Place {
  std::string region;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// A call of the program: what a statement of the verbs says, with its values. Arguments that the statement
// does not have are not there.
struct Call {
  Keyword verb = Keyword::wait;
  std::string object;
  std::uint64_t opcode = 0;  // of a work request, as ibv_wr_opcode has it; arm: 1 for solicited ones only
  std::map<std::string, std::uint64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> names;  // of objects
  std::vector<Place> places;
  Bytes bytes;

  std::uint64_t number(std::string_view name, std::uint64_t otherwise = 0) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? otherwise : found->second;
  }
  bool has(std::string_view name) const { return numbers.find(name) != numbers.end(); }
};

// What the call has returned. Polls return `nothing` if there is nothing.
struct Answer {
  std::string refusal = {};  // why it was refused, with the error's name; empty: it was not
  bool nothing = false;
  std::map<std::string, std::uint64_t, std::less<>> numbers = {};
  Bytes bytes = {};
};

class Host {
 public:
  virtual ~Host() = default;

  virtual bool is_virtual() const = 0;
  virtual Time now() const = 0;
  // From the script's port to the device.
  virtual wire::NetworkHeaders path_to_device() const = 0;

  // The frames arrive together, in their order.
  virtual void send(std::span<const Bytes> frames) = 0;
  // The next frame that has come; it does not wait.
  virtual std::optional<SeenFrame> receive() = 0;
  // Makes a call; it does not wait for what it begins.
  virtual Answer call(const Call& call) = 0;
  // Lets time pass until something may have come, at most until `until`. False: `until` is reached.
  virtual bool step(Time until) = 0;
};

}  // namespace urnic::script
