// Subnets of InfiniBand under virtual time, whose packets take time: hosts, switches, and what arrives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device_model/link/frame_pool.hpp"
#include "device_model/link/lid_fabric.hpp"
#include "device_model/link/lid_routes.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"
#include "wire/infiniband/local_route_header.hpp"

namespace urnic::link::test {

// SDR 1x: a byte takes 4 ns.
inline constexpr std::uint32_t kSlow = 2000;
inline constexpr std::uint8_t kForEver = 20;  // code of a life
inline constexpr transport::Nanoseconds kHop{200};
inline constexpr std::uint8_t kNowhere = 0xFF;
inline constexpr std::uint32_t kBytes = 998;  // 1000 with the VCRC, which take 4 us
inline constexpr transport::Nanoseconds kOnLine{4000};
inline constexpr std::uint32_t kLarge = 4000;  // two of them fill a buffer

// Whether one of the remarks has these words.
inline bool has(const std::vector<std::string>& remarks, const std::string& words) {
  return std::any_of(remarks.begin(), remarks.end(),
                     [&](const std::string& each) { return each.find(words) != std::string::npos; });
}

class SubnetBench : public LidExit {
 public:
  struct Arrival {
    std::uint32_t device = 0;
    transport::Time at{};
    wire::Lid from = {};
    std::uint8_t service_level = 0;
    std::uint8_t lane = 0;
    std::uint32_t tag = 0;
  };

  static wire::Lid lid_of(std::uint32_t device) { return {static_cast<std::uint16_t>(device + 1)}; }

  // Rates, lanes and lives of ports that are connected from here on.
  LidOutput output{.megabits_per_second = kSlow, .lanes = 8, .head_of_queue_life = kForEver};
  std::uint8_t life_time = kForEver;
  TimedSubnetSettings settings{.buffer_bytes = 8192, .hop_delay = kHop, .most_packets = 8192};

  // Its device has the same number.
  std::uint32_t add_host() {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.device = number, .lid = lid_of(number), .ports = std::vector<LidPort>(2)});
    nodes_.back().outputs.resize(2);
    return number;
  }
  std::uint32_t add_switch(std::uint8_t ports) {
    nodes_.push_back({.ports = std::vector<LidPort>(ports + 1u)});
    nodes_.back().outputs.resize(ports + 1u);
    nodes_.back().linear.resize(64, kNowhere);
    nodes_.back().groups.resize(1);
    nodes_.back().life_time = life_time;
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  void connect(LidPlace one, LidPlace other) {
    for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
      LidNode& node = nodes_[from.node];
      node.ports[from.port] = {to.node, to.port, true};
      node.outputs[from.port] = output;
      LaneOfServiceLevel table{};
      for (std::uint8_t level = 0; level < kServiceLevels; ++level)
        table[level] = static_cast<std::uint8_t>(level % output.lanes);
      node.outputs[from.port].lane_of.assign(node.has_device() ? 1 : node.ports.size(), table);
    }
  }
  void route(std::uint32_t at, std::uint32_t device, std::uint8_t port) {
    nodes_[at].linear[lid_of(device).value] = port;
  }
  LidNode& node(std::uint32_t number) { return nodes_[number]; }

  // The nodes are complete; or `write` when one of them is another one now.
  void begin() {
    subnet = std::make_unique<TimedSubnet>(settings, routes, *this);
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) routes.set_node(number, nodes_[number]);
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) subnet->node_changed(number, now);
  }
  void write(std::uint32_t number) {
    routes.set_node(number, nodes_[number]);
    subnet->node_changed(number, now);
  }

  // Of `bytes` without the VCRC.
  void send(std::uint32_t device, wire::Lid to, std::uint32_t bytes, std::uint8_t level = 0) {
    PooledFrame* const frame = pool.take();
    frame->size = bytes;
    frame->link_layer = wire::LinkLayer::infiniband;
    encode(
        wire::infiniband::LocalRouteHeader{
            .service_level = level, .destination = to, .source = lid_of(device)},
        frame->bytes.data());
    frame->bytes[kTagAt] = static_cast<std::byte>(sent_++ & 0xFF);
    subnet->enter(*frame, device, now);
  }
  // Has a device send so many packets as soon as its port has room for them.
  void begin_flow(std::uint32_t device, wire::Lid to, std::uint32_t bytes, std::uint32_t packets,
                  std::uint8_t level = 0) {
    flows_.push_back({device, to, bytes, packets, level});
    fill();
  }

  void run_until(transport::Time end) {
    while (subnet->next_due() && *subnet->next_due() <= end) {
      const transport::Time due = *subnet->next_due();
      steps_back += due < last_due_;
      last_due_ = due;
      now = std::max(now, due);
      subnet->pass_next();
      fill();
    }
    now = end;
  }
  void run_for(transport::Nanoseconds span) { run_until(now + span); }
  // Until nothing is under way.
  void run() {
    while (subnet->packets() != 0) run_for(std::chrono::microseconds(10));
    run_for(std::chrono::seconds(1));
  }

  std::uint32_t arrived_at(std::uint32_t device) const {
    std::uint32_t count = 0;
    for (const Arrival& each : arrivals) count += each.device == device;
    return count;
  }
  std::uint32_t arrived_from(std::uint32_t device) const {
    std::uint32_t count = 0;
    for (const Arrival& each : arrivals) count += each.from == lid_of(device);
    return count;
  }
  // Of all ports.
  std::uint32_t used_blocks() const {
    std::uint32_t blocks = 0;
    for (std::uint32_t number = 0; number < nodes_.size(); ++number)
      for (std::size_t port = 1; port < nodes_[number].ports.size(); ++port)
        for (std::uint8_t lane = 0; lane < kDataLanes; ++lane)
          blocks += subnet->used_blocks({number, static_cast<std::uint8_t>(port)}, lane);
    return blocks;
  }
  bool is_at_rest() const {
    return subnet->packets() == 0 && subnet->stays() == 0 && subnet->group_packets() == 0 &&
           used_blocks() == 0 && pool.in_use() == 0;
  }

  transport::Time takes_at(std::uint32_t device, std::size_t, transport::Time at) const override {
    const auto busy = busy_until.find(device);
    return busy == busy_until.end() ? at : std::max(at, busy->second);
  }
  void leave(PooledFrame& frame, std::uint32_t device, transport::Time at) override {
    const auto route = wire::infiniband::decode_local_route(frame.bytes.data());
    arrivals.push_back({device, at, route.source, route.service_level, route.virtual_lane,
                        std::to_integer<std::uint32_t>(frame.bytes[kTagAt])});
    if (device_takes.count() != 0) busy_until[device] = at + device_takes;
    pool.give(&frame);
  }
  void lose(PooledFrame& frame, std::string_view why) override {
    lost.emplace_back(why);
    lost_at.push_back(last_due_);
    pool.give(&frame);
  }
  PooledFrame* copy(PooledFrame& frame) override {
    PooledFrame* const another = pool.take();
    if (another != nullptr) another->copy(frame.frame());
    return another;
  }

  transport::Time now{};
  FramePool pool{8192};
  LidRoutes routes;
  std::unique_ptr<TimedSubnet> subnet;
  std::vector<Arrival> arrivals;
  std::vector<std::string> lost;
  std::vector<transport::Time> lost_at;  // when what dropped it was due
  unsigned steps_back = 0;  // events that were due before the one that was carried out before them
  std::map<std::uint32_t, transport::Time> busy_until;  // devices that take nothing before
  transport::Nanoseconds device_takes{0};               // for each packet

 private:
  static constexpr std::size_t kTagAt = 8;
  struct Flow {
    std::uint32_t device;
    wire::Lid to;
    std::uint32_t bytes;
    std::uint32_t left;
    std::uint8_t level;
  };

  // Flows take turns, as queue pairs do.
  void fill() {
    for (std::size_t refused = 0; refused < flows_.size();) {
      Flow& flow = flows_[next_flow_];
      next_flow_ = (next_flow_ + 1) % flows_.size();
      if (flow.left == 0 || subnet->room(flow.device, flow.bytes) < flow.bytes) {
        ++refused;
        continue;
      }
      refused = 0;
      --flow.left;
      send(flow.device, flow.to, flow.bytes, flow.level);
    }
  }

  std::vector<LidNode> nodes_;
  std::vector<Flow> flows_;
  std::size_t next_flow_ = 0;
  std::uint32_t sent_ = 0;
  transport::Time last_due_{};
};

// Hosts at the first ports of one switch.
struct Star : SubnetBench {
  explicit Star(std::uint8_t hosts) {
    for (std::uint8_t i = 0; i < hosts; ++i) add_host();
    hub = add_switch(hosts);
  }
  // After `output` was set.
  void begin() {
    for (std::uint32_t host = 0; host < hub; ++host) {
      const auto port = static_cast<std::uint8_t>(host + 1);
      connect({host, 1}, {hub, port});
      route(hub, host, port);
    }
    SubnetBench::begin();
  }
  std::uint32_t hub = 0;
};

// A circle of switches, each with a host at its first port; port 2 leads on, port 3 back. Packets go round
// clockwise only.
struct Ring : SubnetBench {
  explicit Ring(std::uint8_t size) : hosts(size) {
    for (std::uint8_t i = 0; i < size; ++i) add_host();
    for (std::uint8_t i = 0; i < size; ++i) add_switch(3);
  }
  void begin() {
    for (std::uint32_t i = 0; i < hosts; ++i) {
      connect({i, 1}, {hosts + i, 1});
      connect({hosts + i, 2}, {hosts + (i + 1) % hosts, 3});
      for (std::uint32_t to = 0; to < hosts; ++to)
        route(hosts + i, to, to == i ? std::uint8_t{1} : std::uint8_t{2});
    }
    SubnetBench::begin();
  }
  std::uint32_t hosts;
};

}  // namespace urnic::link::test
