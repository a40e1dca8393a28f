// An InfiniBand subnet in which packets take time: links with rates, switches that store and forward, virtual
// lanes with arbitration, and credits, so that a full buffer stops its sender and nothing is dropped for want
// of room (IBTA 7.6, 7.9, chapter 18).
//
// A simulation of discrete events without clock or thread: what is due is carried out in the order of time,
// with the time at which it was due, however late the caller is. Credits are counted, not sent as packets of
// flow control: they take a hop's delay back to the sender and none of the link's rate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "device_model/link/due_queue.hpp"
#include "device_model/link/lid_fabric.hpp"
#include "device_model/link/lid_routes.hpp"
#include "device_model/link/subnet_links/deadlock.hpp"
#include "device_model/link/subnet_links/lane_arbiter.hpp"
#include "device_model/link/subnet_links/output_queues.hpp"
#include "device_model/link/subnet_links/packet.hpp"
#include "device_model/link/subnet_links/timed_subnet_settings.hpp"

namespace urnic::link {

class TimedSubnet final : public LidFabric {
 public:
  // Allocates for all packets. `routes` and `exit` outlive it.
  TimedSubnet(const TimedSubnetSettings& settings, LidRoutes& routes, LidExit& exit);

  void node_changed(std::uint32_t node, transport::Time now) override;
  void enter(PooledFrame& frame, std::uint32_t device, transport::Time now) override;
  void pass_next() override;
  void fall_silent(std::uint32_t device, transport::Time from, transport::Time until) override;
  void end_silence(std::uint32_t device) override;
  std::optional<transport::Time> next_due() const override { return events_.earliest(); }
  std::size_t room(std::uint32_t device, std::size_t least) const override;
  transport::Time room_at(std::uint32_t device) const override;

  // Lanes that have waited for each other in a circle since 0.1 s at least; empty: there are none.
  const std::vector<WaitingLane>& deadlock() const { return deadlock_; }
  // The one that was found last.
  const std::vector<WaitingLane>& last_deadlock() const { return last_deadlock_; }
  // How often there was one. Any thread.
  std::uint64_t deadlocks() const { return deadlocks_.load(std::memory_order_relaxed); }

  // What is occupied: none of it when all packets have left.
  std::uint32_t packets() const { return packets_.in_use(); }
  std::uint32_t stays() const { return stays_.in_use(); }
  std::uint32_t group_packets() const { return groups_.in_use(); }
  // Blocks of the buffer at the other end of the port's link for which the port has no credits.
  std::uint32_t used_blocks(LidPlace sender, std::uint8_t lane) const;

 private:
  struct Lane {
    transport::Time head_since{};  // since when the packet whose turn it is has had its turn
    transport::Time stalled_until{};
    std::uint32_t used_blocks = 0;                 // of the buffer at the other end
    std::uint8_t drops = 0;                        // one after the other, for their time at the head
    std::optional<transport::Time> watched_until;  // when the next event looks how old the head is
  };
  struct Output {
    LaneArbiter arbiter;
    std::array<Lane, kDataLanes> lanes{};
    LaneSet waiting = 0;  // lanes that have packets
    bool is_sending = false;
    transport::Time free_at{};                   // while it is sending
    std::uint32_t leaving = kNoRecord;           // the stay that ends when the packet has left
    std::size_t queued = 0;                      // bytes
    std::size_t entering = 0;                    // bytes of an adapter that are not in a queue yet
    std::optional<transport::Time> waits_since;  // for credits
  };
  struct Node {
    explicit Node(Packets& packets) : queues(packets) {}
    OutputQueues queues;
    std::vector<Output> outputs;
    bool is_switch = false;
    PacketList arrived;  // at an adapter, for its device
    bool device_is_busy = false;
    // Of an adapter's link: until when nothing passes it, and when that has been too long.
    transport::Time silent_until{};
    transport::Time watchdog_at{};
  };

  enum class Kind : std::uint8_t {
    enters,
    arrives,
    line_is_free,
    credits,
    head_is_old,
    device_takes,
    watchdog,
    look
  };
  struct Event {
    Kind kind;
    std::uint8_t lane = 0;
    LidPlace place = {};
    std::uint32_t value = 0;  // a packet, or blocks
  };

  // Not before what was carried out last: time does not go back.
  void schedule(transport::Time due, const Event& event);
  void carry_out(const Event& event, transport::Time now);
  Output& output(LidPlace place) { return nodes_[place.node].outputs[place.port]; }
  const Output& output(LidPlace place) const { return nodes_[place.node].outputs[place.port]; }
  const LidOutput& rules(LidPlace place) const { return routes_.node(place.node).outputs[place.port]; }

  // How many lanes carry data from the port to the other end of its link, which is there: a manager writes
  // one end after the other.
  std::uint8_t lanes_of(LidPlace out) const;
  // How many bytes a device may have queued.
  std::size_t most_queued(LidPlace place) const;

  // At nodes (timed_subnet_nodes.cpp).
  void arrive(LidPlace place, std::uint32_t packet, transport::Time now);
  void arrive_at_device(LidPlace place, std::uint32_t packet, transport::Time now);
  void hand_to_device(std::uint32_t node, transport::Time now);
  void forward(LidPlace place, std::uint32_t packet, transport::Time now);
  void forward_to_group(LidPlace place, wire::Lid group, std::uint32_t packet, transport::Time now);
  std::uint32_t copy(std::uint32_t packet);
  // It has arrived at a switch. False: some switch had it already.
  bool may_go_on(Packet& packet);
  void leave_by(LidPlace out, std::uint8_t input, std::uint32_t packet, transport::Time now);

  // At ports (timed_subnet_ports.cpp).
  void queue_up(LidPlace out, std::uint8_t lane, std::uint8_t input, std::uint32_t packet,
                transport::Time now);
  void send(LidPlace out, transport::Time now);
  bool has_credits(LidPlace out, std::uint8_t lane) const;
  LaneSet lanes_with_credits(LidPlace out) const;
  void put_on_line(LidPlace out, std::uint8_t lane, const LidPort& link, transport::Time now);
  std::uint32_t take(LidPlace out, std::uint8_t lane, transport::Time now);
  void line_is_free(LidPlace out, transport::Time now);
  void credits_come(const Event& event, transport::Time now);
  void drop_all(LidPlace out, LaneSet lanes, std::string_view why, transport::Time now);
  std::optional<transport::Time> head_is_old_at(LidPlace out, std::uint8_t lane) const;
  void watch_head(LidPlace out, std::uint8_t lane, transport::Time now);
  void look_at_head(LidPlace out, std::uint8_t lane, transport::Time now);
  void drop_head(LidPlace out, std::uint8_t lane, transport::Time now);

  // Takes the packet out of the subnet. It counts as a discard of `out`, if that is a port.
  void discard(std::uint32_t packet, std::optional<LidPlace> out, std::string_view why, transport::Time now);
  void end_stay(std::uint32_t stay, transport::Time now);
  // It is not in the subnet any more, and its frame is not either.
  void release(std::uint32_t packet, transport::Time now);

  // Waits for credits (timed_subnet_waits.cpp).
  void begin_wait(LidPlace out, transport::Time now);
  // The time after which nobody waits for flow control at an adapter's link any more.
  void watchdog(LidPlace place, transport::Time now);
  void end_wait(LidPlace out, transport::Time now);
  void look(transport::Time now);
  bool is_stuck(LidPlace out, std::uint8_t lane, transport::Time now) const;
  std::vector<WaitsFor> stuck_lanes(transport::Time now) const;
  // By node, port and lane: their numbers.
  using StuckLanes = std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint8_t>, std::uint32_t>;
  void look_behind(WaitsFor& lane, const StuckLanes& stuck) const;

  TimedSubnetSettings settings_;
  std::uint32_t buffer_blocks_;
  LidRoutes& routes_;
  LidExit& exit_;
  Packets packets_;
  RecordPool<Stay> stays_;
  RecordPool<GroupPacket> groups_;
  DueQueue<Event> events_;
  std::vector<Node> nodes_;
  std::uint32_t switches_ = 0;
  transport::Time latest_{};  // when something was due last
  bool looks_again_ = false;  // an event will look at the waits
  std::vector<WaitingLane> deadlock_;
  std::vector<WaitingLane> last_deadlock_;
  std::atomic<std::uint64_t> deadlocks_{0};
};

}  // namespace urnic::link
