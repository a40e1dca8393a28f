// Management datagrams of InfiniBand ports: what programs send goes into the built-in fabric, or as a packet
// to another device; what arrives in the fabric goes to the node's performance agent or to programs. It
// repeats the nodes' traps, too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/gsi/performance_agent.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/umad/line_news.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

class InfinibandPorts {
 public:
  // Whether a program took the datagram.
  using Taker = std::function<bool(ServedDevice& device, const GsiAddress& from, MadBytes mad)>;

  // All outlive it. What `gsi` has a handler for does not reach the taker.
  InfinibandPorts(EventLoop& loop, Fabric& fabric, Gsi& gsi, Taker taker);
  ~InfinibandPorts();
  InfinibandPorts(const InfinibandPorts&) = delete;
  InfinibandPorts& operator=(const InfinibandPorts&) = delete;

  // `bad_address`, too: a directed route that does not begin at the device's port, and a queue pair that
  // datagrams may not go to. What is for another device's QP1 leaves as a packet, and may be lost; with all
  // else the taker may be called before it returns, for this device, too.
  GsiSent send(ServedDevice& device, const GsiAddress& to, MadBytes mad);

  // Whether the device's port says that a subnet manager is there.
  void set_manager(const ServedDevice& device, bool is_manager);

  // Pulls the cables of these ports, or plugs them in again.
  void set_cables(const std::vector<subnet::PortPlace>& places, bool is_plugged);

  // Tells the subnet of packets that the device has dropped for their P_Key or Q_Key since the last call.
  void report_violations(const ServedDevice& device, const CounterSnapshot& counters);
  // The same of what the line of the device's port has done wrong, at either end.
  void report_line_faults(const ServedDevice& device, const CounterSnapshot& counters);
  // Calls `reader` when there may be more to report: it is to read the counters within a tenth of a second,
  // and for as long again.
  void on_line_news(std::function<void()> reader) { reader_ = std::move(reader); }

 private:
  struct ToldFaults {
    link::LineErrors own;
    link::LineErrors far;  // of the other end
    friend bool operator==(const ToldFaults&, const ToldFaults&) = default;
  };
  struct Violations {
    std::uint64_t pkeys = 0;
    std::uint64_t qkeys = 0;
  };

  bool goes_as_packet(const ServedDevice& device, wire::Lid destination) const;
  void arrive(subnet::NodeIndex node, const subnet::Datagram& datagram);
  void arrive_at_device(ServedDevice& device, const subnet::Datagram& datagram,
                        const wire::mad::MadHeader& header);
  PerformanceAgent& performance_of(subnet::NodeIndex node);
  void answer(subnet::NodeIndex node, const subnet::Datagram& question, const wire::mad::Mad& mad);
  void changed();
  void repeat_traps();
  void hear_of_lines();
  void end_silences();

  Fabric& fabric_;
  Gsi& gsi_;
  Taker taker_;
  std::map<subnet::NodeIndex, PerformanceAgent> performance_;  // of nodes without a device that were asked
  std::vector<Violations> violations_;                         // told so far, by node
  std::vector<ToldFaults> line_faults_;                        // likewise
  std::vector<const ServedDevice*> silent_;                    // whose links are
  std::function<void()> reader_;
  Timer repeat_;                         // of traps
  std::unique_ptr<LineNews> line_news_;  // null: there are no InfiniBand devices
  ScopedWatch arrivals_;                 // of datagrams that come out of links
};

}  // namespace urnic::control
