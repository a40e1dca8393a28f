// Many senders, one line: real queue pairs under virtual time, whose packets meet in front of one port of a
// switch. Each sender has a line of its own, as fast as the port. Behind the port the packets spread to the
// receivers. Acknowledgements and congestion notifications go back over a line that is never busy.
//
// The port and the senders' lines are the product's (device_model/link/link_direction.hpp). Everything
// follows from the settings.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/link/due_queue.hpp"
#include "device_model/link/link_direction.hpp"
#include "tests/unit/congestion/incast_end.hpp"

namespace urnic::transport::lab {

struct IncastSettings {
  CongestionSettings congestion{};
  std::uint32_t flows = 2;
  std::uint32_t path_mtu = 1024;
  double line_gbps = 40;
  Nanoseconds delay{4'000};  // one way, without queue
  double far = 1;            // the delay of every second flow is so many times that
  // Of the port: its rate and delay are those above. Marking as in DCQCN's paper.
  std::uint32_t queue_packets = 1024;
  std::uint32_t ecn_min_bytes = 5'000;
  std::uint32_t ecn_max_bytes = 200'000;
  double ecn_probability = 0.01;
  double loss = 0;  // of each packet, in both directions
  std::uint64_t seed = 1;
};

class Incast final : private IncastNetwork {
 public:
  // All flows are connected, and silent.
  explicit Incast(const IncastSettings& settings);

  void start(std::uint32_t flow);
  // The sender's process is killed.
  void leave(std::uint32_t flow);
  void run_for(Nanoseconds span);
  Nanoseconds now() const { return now_.time_since_epoch(); }

  std::uint32_t flows() const { return static_cast<std::uint32_t>(flows_.size()); }
  // Bytes of the application that have arrived.
  std::uint64_t delivered(std::uint32_t flow) const { return flows_[flow]->receiver.delivered(); }
  const QueuePair& sender(std::uint32_t flow) const { return flows_[flow]->sender.queue_pair; }
  const Counters& sender_counters(std::uint32_t flow) const { return flows_[flow]->sender.counters; }
  // Most bytes of data that the port's line can carry in a second.
  double capacity() const;

  // Of the port.
  std::uint64_t queue_drops() const { return queue_drops_; }
  std::uint64_t marks() const { return marks_; }
  // The bytes in its queue at each microsecond, from the last call on. Until the first call nothing is noted.
  std::vector<std::uint64_t> take_queue_samples();

 private:
  enum class Kind : std::uint8_t { at_switch, at_receiver, at_sender, transmission, timer };
  struct Event {
    Kind kind;
    std::uint32_t flow;
    std::uint32_t packet;  // its slot
  };
  struct Flow {
    Flow(const IncastSettings& settings, std::uint32_t number, IncastNetwork& network);

    IncastEnd sender;
    IncastEnd receiver;
    link::LinkDirection line;  // from the sender to the switch
    link::LinkDirection back;
    std::uint64_t sent = 0;  // packets that have come to the port
    std::uint64_t answers = 0;
    // When the next event of each kind is due. An event that is not due then has been overtaken.
    Time transmission = Time::max();
    Time timer = Time::max();
  };

  void take(const IncastEnd& from, const IncastPacket& packet) override;
  void carry_out(const Event& event);
  void enter_port(const Event& event);
  void answer(Flow& flow);
  void transmit(Flow& flow);
  void look_ahead(Flow& flow);
  std::optional<Time> next_transmission(Flow& flow);
  void schedule(Time& scheduled, Time time, Kind kind, std::uint32_t flow);
  void sample_queue(Time until);
  std::uint32_t store(const IncastPacket& packet);

  const IncastSettings settings_;
  const bool capable_;  // packets may be marked
  Time now_{};
  std::vector<std::unique_ptr<Flow>> flows_;
  link::LinkDirection port_;
  link::DueQueue<Event> events_;
  std::vector<IncastPacket> packets_;
  std::vector<std::uint32_t> free_;
  std::uint64_t queue_drops_ = 0;
  std::uint64_t marks_ = 0;
  std::optional<Time> next_sample_;
  std::vector<std::uint64_t> samples_;
};

}  // namespace urnic::transport::lab
