// A LAN behind a UNIX stream socket of Ethernet frames, as QEMU's `-netdev stream` speaks: what the built-in
// switch is joined to (Switch::join_lan). Answers address resolution for the devices of this process, and
// asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/link/frames/frame_stream.hpp"
#include "device_model/link/neighbours/neighbour_discovery.hpp"
#include "device_model/link/outer_port.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

struct FrameSocketSettings {
  // A UNIX socket's path. A listener serves one peer after the other; who connects does so once.
  std::string path;
  bool listens = true;
  // The port is a member of this VLAN: its frames are tagged. Empty: they are not.
  std::optional<std::uint16_t> vlan;
};

struct FrameSocketCounters {
  std::uint64_t received_frames = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t skipped = 0;      // received with an impossible length
  std::uint64_t other_vlan = 0;   // received, of another VLAN
  std::uint64_t overruns = 0;     // not sent: the peer does not read
  std::uint64_t unconnected = 0;  // not sent: there is no peer
  std::uint64_t connections = 0;
};

class FrameSocket final : public OuterPort, private NeighbourDiscovery::Sender {
 public:
  // `wake` makes the engine call `take` soon; from any thread. Throws std::system_error.
  FrameSocket(const FrameSocketSettings& settings, std::function<void()> wake);
  ~FrameSocket();
  FrameSocket(const FrameSocket&) = delete;
  FrameSocket& operator=(const FrameSocket&) = delete;

  // Readable when `take` or `flush` has something to do.
  int wake_descriptor() const { return epoll_.get(); }
  const FrameSocketSettings& settings() const { return settings_; }
  NeighbourDiscovery& neighbours() { return discovery_; }
  bool is_connected() const { return static_cast<bool>(peer_); }
  FrameSocketCounters counters() const;

  void take(Port& port, transport::Time now, const Load& most) override;
  void release() override;
  std::uint32_t unreleased() const override { return given_; }
  std::optional<transport::Time> next_due() const override { return discovery_.next_due(); }
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override;
  void flush() override;
  bool has_room(transport::Time now) const override;
  transport::Time room_at() const override;

 private:
  // With this much to send, devices wait; frames that none of them waits for may fill the rest.
  static constexpr std::size_t kFullBytes = 512 * 1024;
  static constexpr std::size_t kMostWaitingBytes = 1024 * 1024;

  void send(std::span<const std::byte> frame) override { arrive({frame, {}, {}}, {}); }
  void accept_peer();
  void lose_peer();
  void receive();
  void give(std::span<std::byte> frame, Port& port, transport::Time now);
  std::optional<std::span<std::byte>> without_tag(std::span<std::byte> frame);
  void append(std::span<const std::byte> bytes);
  void watch_for_room(bool watch);
  std::size_t waiting() const { return outgoing_.size() - sent_; }

  const FrameSocketSettings settings_;
  memory::Descriptor epoll_;
  memory::Descriptor listener_;
  memory::Descriptor peer_;
  NeighbourDiscovery discovery_;
  FrameStreamReader reader_;
  bool stream_ended_ = false;  // the reader has bytes of a former peer
  std::uint32_t given_ = 0;
  std::vector<std::byte> outgoing_;  // the stream to the peer, of which `sent_` bytes are sent
  std::size_t sent_ = 0;
  bool watches_for_room_ = false;
  transport::Time now_{};
  transport::Time last_sent_{};  // when the peer took something, or nothing waited
  FrameSocketCounters counters_;
};

}  // namespace urnic::link
