// What a script acts on: a device with a program that uses it, and a port beside the device's, from which the
// script sends frames and where it sees those that come. One implementation under virtual time, one live.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device_model/transport/time.hpp"
#include "script/call.hpp"
#include "wire/network_headers.hpp"

namespace urnic::script {

using transport::Nanoseconds;
using transport::Time;

// UDP source port of what a script sends.
constexpr std::uint16_t kUdpSource = 0xC000;

// A frame at the script's port, from the Ethernet header to the ICRC, or of InfiniBand from the LRH to the
// VCRC.
struct SeenFrame {
  Bytes bytes;
  Time at{};
};

class Host {
 public:
  virtual ~Host() = default;

  virtual bool is_virtual() const = 0;
  virtual Time now() const = 0;
  // The script's own queue pair numbers begin here.
  virtual std::uint32_t first_qpn() const = 0;
  // From the script's port to the device; by LID if the link is of InfiniBand, without a GRH.
  virtual wire::NetworkHeaders path_to_device() const = 0;

  // The frames arrive together, in their order.
  virtual void send(std::span<const Bytes> frames) = 0;
  // The next frame that has come; it does not wait.
  virtual std::optional<SeenFrame> receive() = 0;
  // Makes a call; it does not wait for what it begins.
  virtual Answer call(const Call& call) = 0;
  // The device has had time for what was sent, if it answers nothing to it.
  virtual void settle() = 0;
  // Lets time pass until something may have come, at most until `until`. False: `until` is reached.
  virtual bool step(Time until) = 0;
};

}  // namespace urnic::script
