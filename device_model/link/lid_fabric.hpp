// The inside of an InfiniBand subnet, where packets take time there: links with rates, switches with buffers.
// Without one they pass the subnet at once (lid_routes.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "device_model/transport/time.hpp"

namespace urnic::link {

struct PooledFrame;

// The devices at the subnet's edge, as the inside sees them.
class LidExit {
 public:
  // When the device takes a packet of `bytes`: `now`, or later while its own link is busy.
  virtual transport::Time takes_at(std::uint32_t device, std::size_t bytes, transport::Time now) const = 0;
  // A packet has arrived at the device's port. The frame is given back, here and in `lose`.
  virtual void leave(PooledFrame& frame, std::uint32_t device, transport::Time now) = 0;
  // A packet is dropped inside; `why` says it to observers.
  virtual void lose(PooledFrame& frame, std::string_view why) = 0;
  // A copy of a packet for a group, which goes another way from here on. Null: too many are under way;
  // observers are told that a packet is dropped.
  virtual PooledFrame* copy(PooledFrame& frame) = 0;

 protected:
  ~LidExit() = default;
};

// Engine thread only, once the engine runs.
class LidFabric {
 public:
  virtual ~LidFabric() = default;

  // The node's tables or ports have changed (LidRoutes::set_node). Allocates.
  virtual void node_changed(std::uint32_t node, transport::Time now) = 0;

  // A packet leaves the port of `device` for another one's, or for a group. The frame is the fabric's until
  // it leaves.
  virtual void enter(PooledFrame& frame, std::uint32_t device, transport::Time now) = 0;
  // Carries out what is due next; there must be something. In the order of time.
  virtual void pass_next() = 0;
  virtual std::optional<transport::Time> next_due() const = 0;

  // Nothing passes the device's link between these times, packets of flow control neither; or it does again,
  // before its time.
  virtual void fall_silent(std::uint32_t device, transport::Time from, transport::Time until) = 0;
  virtual void end_silence(std::uint32_t device) = 0;

  // As in Port: how many bytes a device may send, and when there is room again.
  virtual std::size_t room(std::uint32_t device, std::size_t least) const = 0;
  virtual transport::Time room_at(std::uint32_t device) const = 0;
};

}  // namespace urnic::link
