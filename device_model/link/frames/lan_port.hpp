// A LAN outside of the process: what the built-in switch is joined to (Switch::join_lan), whatever carries
// its frames. VLAN tags, address resolution and group membership for the devices of this process, and what
// was counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_carrier.hpp"
#include "device_model/link/membership/group_membership.hpp"
#include "device_model/link/neighbours/neighbour_discovery.hpp"
#include "device_model/link/outer_port.hpp"

namespace urnic::link {

struct LanCounters {
  std::uint64_t received_frames = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t other_vlan = 0;   // received, of another VLAN
  std::uint64_t overruns = 0;     // not sent: the other side takes nothing
  std::uint64_t unconnected = 0;  // not sent: there is no peer
  std::uint64_t queries = 0;      // of group memberships, received
  std::uint64_t reports = 0;      // of group memberships, sent
  CarrierCounters carrier;
};

class LanPort final : public OuterPort, private NeighbourDiscovery::Sender {
 public:
  // With `vlan`, the port is a member of that VLAN: its frames are tagged. Without it, frames of the VLANs
  // that `neighbours` has an own address in pass with their tags. `wake` makes the engine call `take` soon;
  // from any thread.
  LanPort(std::unique_ptr<FrameCarrier> carrier, std::optional<std::uint16_t> vlan,
          std::function<void()> wake);
  LanPort(const LanPort&) = delete;
  LanPort& operator=(const LanPort&) = delete;

  // Any thread. Readable when `take` or `flush` has something to do.
  int wake_descriptor() const { return carrier_->wake_descriptor(); }
  NeighbourDiscovery& neighbours() { return discovery_; }
  GroupMembership& groups() { return groups_; }
  bool is_connected() const { return connected_; }
  LanCounters counters() const;
  // When the last frame came, if any has.
  std::optional<transport::Time> last_received() const;
  // Since when the other side has taken nothing of what waits for it; empty: it takes what there is.
  std::optional<transport::Time> takes_nothing_since(transport::Time now) const;

  void take(Port& port, transport::Time now, const Load& most) override;
  void release() override;
  std::uint32_t unreleased() const override { return given_; }
  std::optional<transport::Time> next_due() const override;
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override;
  void flush() override;
  bool has_room(transport::Time now) const override;
  transport::Time room_at() const override;

 private:
  // With this much to send, devices wait; frames that none of them waits for may fill the rest.
  static constexpr std::size_t kFullBytes = 512 * 1024;
  static constexpr std::size_t kMostWaitingBytes = 1024 * 1024;

  void send(std::span<const std::byte> frame) override { arrive({frame, {}, {}}, {}); }
  void give(std::span<std::byte> frame, Port& port, transport::Time now);
  void watch_peer(transport::Time now);
  std::optional<std::span<std::byte>> as_devices_know_it(std::span<std::byte> frame);
  void append(std::span<const std::byte> bytes);
  std::size_t waiting() const { return outgoing_.size() - sent_; }

  const std::unique_ptr<FrameCarrier> carrier_;
  const std::optional<std::uint16_t> vlan_;
  NeighbourDiscovery discovery_;
  GroupMembership groups_;
  std::uint32_t given_ = 0;
  std::vector<std::byte> outgoing_;  // frames behind their lengths, of which `sent_` bytes are done with
  std::size_t sent_ = 0;
  bool connected_;  // as the carrier said last
  transport::Time now_{};
  transport::Time last_sent_{};  // when the carrier took something, or nothing waited
  transport::Time stalls_at_{};  // the peer, or is looked at again
  transport::Time last_received_{};
  LanCounters counters_;
};

}  // namespace urnic::link
