// A port of the built-in switch, with the link to its device; or, for a device of another engine, with the
// trunk to that engine's switch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device_model/link/link.hpp"
#include "device_model/link/pause.hpp"
#include "device_model/link/port.hpp"

namespace urnic::link {

class OuterPort;
class Switch;
class Trunk;

class SwitchPort final : public Port {
 public:
  SwitchPort(Switch& frame_switch, FrameReceiver& to, std::string_view name, std::uint32_t position,
             Trunk* leads_by = nullptr)
      : receiver(to), trunk(leads_by), device(name), number(position), frame_switch_(frame_switch) {}

  void transmit(const wire::Frame& frame, const PacketOrigin& origin, transport::Time now) override;
  bool up(transport::Time now) const override { return link == nullptr || link->up(now); }
  std::size_t in_place_from(const wire::NetworkHeaders& path) const override;
  std::size_t room(transport::Time now, std::size_t least) const override;
  transport::Time room_at(std::size_t least) const override;

  // The link impairs packets, or may: in one of its directions.
  bool is_impaired() const { return link != nullptr && !link->plain(); }
  // The same, in this direction.
  bool is_impaired(Direction direction) const { return link != nullptr && !link->plain(direction); }

  // As Link::passes_unread.
  bool passes_unread(Direction direction) const { return link == nullptr || link->passes_unread(direction); }

  FrameReceiver& receiver;  // a stub for a device of another engine
  const bool takes_owed_icrc = receiver.takes_owed_icrc();
  Trunk* const trunk;  // null: the device is here
  const std::string device;
  const std::uint32_t number;
  // The other end of a wire that joins this port to one other and not to the switch's forwarding table; or
  // null. Of a device's port this is the outer port's end, and the other way round.
  SwitchPort* far_end = nullptr;
  OuterPort* outside = nullptr;    // of an outer port's end: `receiver`
  OuterPort* waits_for = nullptr;  // of a device's port: where its frames may leave, which must have room
  // Of an outer port's end: its frames enter the switch here, of a LAN or a station.
  bool enters_here = false;
  Port* entrance = nullptr;            // of an outer port's end: where its frames enter, if not here
  bool isolated = false;               // no frame of another port's comes here
  bool makes_datagrams = false;        // no port: a maker of management datagrams, as their sender
  std::unique_ptr<Link> link;          // made at the first use
  std::uint32_t frames_under_way = 0;  // slots of FramesInFlight with frames from this device
  Pause own_pause;                     // of a device that is attached here
  Pause* pause = nullptr;  // when the device may not send; null: it is not a device, or cannot be paused

 private:
  Switch& frame_switch_;
};

}  // namespace urnic::link
