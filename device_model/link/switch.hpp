// The built-in switch: forwards frames between attached ports by destination MAC address, and packets of
// InfiniBand by LID, over each port's link. Each engine has its own switch; trunks connect the switches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "device_model/link/datagram_exit.hpp"
#include "device_model/link/frame_in_flight.hpp"
#include "device_model/link/frames_in_flight.hpp"
#include "device_model/link/lid_fabric.hpp"
#include "device_model/link/lid_routes.hpp"
#include "device_model/link/link.hpp"
#include "device_model/link/observation.hpp"
#include "device_model/link/port.hpp"
#include "device_model/link/trunk.hpp"
#include "device_model/link/uplink.hpp"

namespace urnic::link {

class OuterPort;
class SwitchPort;

class Switch final : public Uplink, private Forwarder, private LidExit {
 public:
  Switch();
  ~Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  // A frame that a port sends to its own address returns to that port.
  Port& attach(const wire::MacAddress& address, FrameReceiver& receiver,
               std::string_view device = {}) override;

  // As `attach`, for a device of another engine, which `trunk` leads to. Port numbers count attachments: all
  // switches attach the same devices in the same order.
  // `pause`: of that device at the other engine's switch, or null.
  void attach_remote(const wire::MacAddress& address, Trunk& trunk, std::string_view device = {},
                     Pause* pause = nullptr);
  // When the device at port number `port`, which is attached here, may not send. It lives as long as this.
  Pause& pause(std::uint32_t port);

  // From now on the device at port number `port` is on a wire of its own: its frames leave by `outside`,
  // whatever their destination address, and frames from there go to it. `outside` outlives its use.
  void connect(std::uint32_t port, OuterPort& outside);
  // Joins the LAN behind `outside`: frames to addresses that no port has, and to groups, leave by it, and
  // frames from there go to all ports. A frame with a device's own address as its source is refused: it would
  // pass as that device's. Once at most, when all devices are attached. `outside` outlives its use.
  void join_lan(OuterPort& outside);
  // The same for the switch of another engine: `trunk` leads to the switch that has joined the LAN.
  void join_lan_by(Trunk& trunk);
  // False: the LAN takes nothing more at the moment.
  bool lan_has_room(transport::Time now) const;
  // Makes a port for a station, a process that speaks frames or packets of InfiniBand itself, which `outside`
  // carries. It has no link, and reaches the devices of this switch only, as they alone reach it. `outside`
  // outlives the switch's use: stations come and go by their addresses.
  //
  // Returns its port number, behind those of all devices, which are attached by then. A station of the
  // InfiniBand subnet is the device of this number there (lid_routes.hpp), and its packets go by LID.
  std::uint32_t add_station(OuterPort& outside);
  // The station behind `outside` has this address from now on, and its frames must have it as their source;
  // empty: there is no station. Throws std::invalid_argument if another port has the address.
  void set_station(const OuterPort& outside, const std::optional<wire::MacAddress>& address);
  // The host of the device at port number `port` has an interface, which `outside` carries: its frames enter
  // by `entrance`, the device's own way to its port. The device gives it what is for the host. Both outlive
  // the switch's use.
  void add_host(std::uint32_t port, OuterPort& outside, Port& entrance);
  // From now on no frame of the other ports goes to port number `port`.
  void isolate(std::uint32_t port);

  // Between the InfiniBand devices, all of which are attached to one engine's switch.
  LidRoutes& lid_routes() { return lid_routes_; }
  const LidRoutes& lid_routes() const { return lid_routes_; }
  // From now on their packets pass `inside`, and take time there. It outlives the switch's use, and has the
  // switch as its exit.
  void set_lid_fabric(LidFabric& inside) { lid_fabric_ = &inside; }
  LidExit& lid_exit() { return *this; }
  // A node of theirs is another one now. Allocates.
  void set_lid_node(std::uint32_t number, LidNode node, transport::Time now);

  // Management datagrams whose way the caller knows leave the links of devices by `exit`, which outlives its
  // use. They have `makers` makers. Once at most, when all devices are attached.
  void set_datagram_exit(DatagramExit& exit, std::uint32_t makers);
  // One enters the link of the device at port number `port`, from the device or towards it. To observers it
  // is shown only where the link drops it.
  LinkPassage pass_link(std::uint32_t port, Direction direction, const DatagramPacket& packet,
                        transport::Time now);

  // A frame arrives from another switch.
  void arrive_by_trunk(const Trunk::Passenger& passenger, transport::Time now);

  // The link of port number `port`, from 0, whose device is attached here; made at the first call.
  // `existing_link` returns null if `link` was never called.
  Link& link(std::uint32_t port);
  const Link* existing_link(std::uint32_t port) const;
  // The memory of the queues towards this switch's ports.
  SharedBuffer& buffer() { return buffer_; }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(ports_.size()); }

  // At most a handful; called in the order of addition, at every capture point (observation.hpp).
  void add_observer(FrameObserver& observer);
  void remove_observer(FrameObserver& observer);
  // For the thread that adds and removes observers, too.
  bool is_observed() const { return !observers_.empty(); }
  // Shows observers a packet; also one that takes another way than through this switch.
  void observe(const Observation& observation) const;

  // As Port::in_place_from, behind the sender's link.
  std::size_t in_place_from(const SwitchPort& from, const wire::NetworkHeaders& path) const;

  Load deliver_due(transport::Time now, const Load& most) override;
  void release() override;
  bool owes_release() const override;
  void flush() override;
  void woken() override;
  std::optional<transport::Time> next_due() const override;
  bool overdue(transport::Time now) const override;
  bool takes_time() const override;
  std::uint32_t count() const override;

  // Frames to an address that no port has. Contiguous ones, which programs made themselves, are flooded to
  // every port but the sender's; frames of queue pairs, whose peer's address was known here, are dropped.
  // Frames to a group address go to every port, the sender's too; each device looks up its members.
  std::uint64_t unknown_destination() const { return unknown_destination_; }
  // Frames dropped because a trunk was full.
  std::uint64_t trunk_overruns() const { return trunk_overruns_; }
  // Frames from the LAN with a device's own address as their source, or from a station with another than its
  // own.
  std::uint64_t refused_sources() const { return refused_sources_; }

 private:
  friend class SwitchPort;
  // An entry of the forwarding table: open addressing, a power of two of entries, at most half full.
  struct Route {
    std::uint64_t address = 0;  // packed, with a higher bit that marks the entry as used
    SwitchPort* port = nullptr;
  };

  void forward(SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin, transport::Time now);
  SwitchPort* port_by_lid(const SwitchPort& from, const wire::Frame& packet, std::string_view& obstacle);
  [[gnu::cold]] void enter_from_station(SwitchPort& from, const wire::Frame& packet,
                                        const PacketOrigin& origin, transport::Time now);
  // A device's port, or a station's; null: there is none of this number.
  SwitchPort* port_in_subnet(std::uint32_t number) const;
  void enter_subnet(FrameInFlight& flight, transport::Time now);
  [[gnu::cold]] void arrive_damaged(FrameInFlight& flight, Direction passed);
  bool subnet_is_next() const;
  // On a link or inside a subnet; empty: nothing is under way.
  std::optional<transport::Time> next_frame_due() const;
  transport::Time takes_at(std::uint32_t device, std::size_t bytes, transport::Time now) const override;
  void leave(PooledFrame& frame, std::uint32_t device, transport::Time now) override;
  void lose(PooledFrame& frame, std::string_view why) override;
  // To observers; the frame stays.
  void report_lost(PooledFrame& frame, std::string_view why);
  PooledFrame* copy(PooledFrame& frame) override;
  void enter_from_outside(SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin,
                          transport::Time now);
  void forward_to(SwitchPort& to, SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin,
                  transport::Time now);
  void flood(const FrameInFlight& flight, transport::Time now);
  void copy_to(SwitchPort& port, const FrameInFlight& flight, transport::Time now);
  void copy_to_members(const FrameInFlight& flight, transport::Time now);
  void count_way(const FrameInFlight& flight);
  bool goes_to_many(const wire::Frame& frame) const;
  SwitchPort* port_for(const wire::Frame& frame) const;
  SwitchPort& port_numbered(std::uint32_t number) const;
  SwitchPort& add_port(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device,
                       Trunk* trunk);
  bool is_station(const SwitchPort& port) const;
  bool trunks_have_room() const;
  void put_on_trunk(FrameInFlight& flight, SwitchPort& to, Onward onward, transport::Time now);
  void arrive(const wire::Frame& frame, const PacketOrigin& origin, SwitchPort& to, std::string_view remarks);
  [[gnu::cold]] void come_out(const FrameInFlight& flight, Direction passed);
  void hand_on(FrameInFlight& flight, Direction passed, transport::Time now) override;
  void dropped(const FrameInFlight& flight, std::string_view device, Direction where) override;
  void answer(const FrameInFlight& flight, std::span<const std::byte> frame, wire::Qpn by,
              transport::Time now) override;
  void cut(std::uint32_t port, transport::Time from, transport::Time until) override;
  void restored(std::uint32_t port) override;
  void link_changed(std::uint32_t port, bool up) override;
  void measure_observers();
  static std::size_t first_place(std::uint64_t address, std::size_t places);
  SwitchPort* port_of(std::uint64_t address) const;
  static void insert(std::vector<Route>& routes, const Route& route);
  void set_route(std::uint64_t address, SwitchPort* port);
  void grow();

  FramesInFlight in_flight_;
  SharedBuffer buffer_;
  Load arrived_;  // at devices, since the latest delivery of due frames began
  std::vector<std::unique_ptr<SwitchPort>> ports_;
  std::vector<std::unique_ptr<SwitchPort>> outer_ends_;
  SwitchPort* lan_ = nullptr;  // one of them, or `lan_elsewhere_`; its number is that of the ports
  std::unique_ptr<SwitchPort> lan_elsewhere_;
  std::vector<Link*> links_;
  std::vector<Trunk*> trunks_;
  std::vector<Route> routes_;
  LidRoutes lid_routes_;
  LidFabric* lid_fabric_ = nullptr;  // null: a subnet takes no time
  DatagramExit* datagram_exit_ = nullptr;
  std::vector<std::unique_ptr<SwitchPort>> datagram_makers_;  // beside the ports, whose data count apart
  std::vector<FrameObserver*> observers_;
  std::size_t observed_bytes_ = 0;  // the longest reach of them
  std::uint64_t unknown_destination_ = 0;
  std::uint64_t trunk_overruns_ = 0;
  std::uint64_t refused_sources_ = 0;
};

}  // namespace urnic::link
