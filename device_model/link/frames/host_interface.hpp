// A device's Ethernet side: a network interface of the host, whose frames cross the device's link beside its
// RoCE packets, as those of a NIC do. What arrives for the host, all that is not RoCE, goes to the interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "device_model/link/frames/host_frames.hpp"
#include "device_model/link/frames/host_tap.hpp"
#include "device_model/link/outer_port.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

struct HostInterfaceCounters {
  std::uint64_t received_frames = 0;     // from the host
  std::uint64_t sent_frames = 0;         // to the host
  std::uint64_t impossible = 0;          // from the host, such as no interface could send
  std::uint64_t refused_sources = 0;     // from the host, with the source address of another
  std::uint64_t host_does_not_read = 0;  // to the host, which had no room
};

// Engine thread only.
class HostInterface final : public OuterPort {
 public:
  // `address` is the device's and the interface's. `device`: its number, for its packets' identities.
  HostInterface(memory::Descriptor tap, const wire::MacAddress& address, std::uint32_t device)
      : tap_(std::move(tap)), address_(address), device_(device) {}

  int wake_descriptor() const { return tap_.wake_descriptor(); }

  // On a line with a rate it takes turns with the device's queue pairs: the first round in which the line
  // takes something after its own turn is theirs.
  void take(Port& port, transport::Time now, const Load& most) override;
  void release() override;
  std::uint32_t unreleased() const override { return given_; }
  std::optional<transport::Time> next_due() const override { return waits_until_; }
  // Of all that the device gets: what its host is to see.
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override;
  void flush() override;

  void set_carrier(bool present) { tap_.set_carrier(present); }

  const HostInterfaceCounters& counters() const { return counters_; }

 private:
  static constexpr std::size_t kMostWaitingBytes = 1 << 20;

  HostTap tap_;
  const wire::MacAddress address_;
  const std::uint32_t device_;
  std::uint32_t given_ = 0;
  std::optional<transport::Time> waits_until_;  // for room on the line
  transport::Nanoseconds pause_{0};             // before the next look: it was empty
  transport::Time next_look_{};
  bool has_yielded_ = false;  // the queue pairs have had their turn
  HostFrames outgoing_{kMostWaitingBytes};
  HostInterfaceCounters counters_;
};

}  // namespace urnic::link
