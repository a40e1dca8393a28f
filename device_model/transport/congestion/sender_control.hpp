// Congestion control of a requester: tells the algorithm what happens to its packets, and answers whether
// another may leave. A requester without congestion control has none of these.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/transport/congestion/congestion_control.hpp"
#include "device_model/transport/congestion/flight_record.hpp"
#include "device_model/transport/packet_number.hpp"

namespace urnic::transport {

class SenderControl {
 public:
  // `settings` name an algorithm. `most_packets`: that may be under way. Throws std::bad_alloc.
  SenderControl(const CongestionSettings& settings, std::uint32_t most_packets);

  // Nothing is under way. `packet_bytes`: of a full packet.
  void start(std::uint32_t packet_bytes, Time now);

  // Before a packet leaves with which something is under way for the first time. True: slow restart.
  bool wake(Time now);
  void sent(PacketNumber packet, std::uint32_t bytes, Time now);
  void sent_again(PacketRange packets, std::uint32_t bytes, Time now);
  // Packets before `until` have arrived. `in_turn`: the last of them was not known to have arrived before.
  void acknowledged(PacketNumber until, bool in_turn, Time now);
  // The peer reports the arrival of `packet`, ahead of others.
  void arrived(PacketNumber packet, Time now);
  void marked(Time now) { algorithm_->marked(now); }
  void lost(Time now) { algorithm_->lost(now); }
  // True: slow restart.
  bool timed_out(Time now) { return algorithm_->timed_out(now); }
  void discarded(PacketNumber from) { record_.discarded(from); }
  void truncate(PacketNumber end) { record_.truncate(end); }

  // Whether the window lets another packet leave. `arrived_ahead`: packets in the record that are not in the
  // network any more.
  bool has_room(std::uint32_t arrived_ahead) const {
    const std::uint64_t gone = std::uint64_t{arrived_ahead} * packet_bytes_;
    return record_.bytes() < gone || record_.bytes() - gone < allowed_.window;
  }
  // With another packet the window is full, as in `has_room`.
  bool is_last_in_window(std::uint32_t arrived_ahead) const {
    const std::uint64_t gone = std::uint64_t{arrived_ahead} * packet_bytes_;
    const std::uint64_t bytes = record_.bytes() + packet_bytes_;
    return bytes >= gone && bytes - gone >= allowed_.window;
  }
  // One packet in so many must ask for an acknowledgement, so that the window moves on and the algorithm has
  // its measurements.
  std::uint32_t ack_interval() const;
  // How fast packets may leave. Works out what the time, and what it was told, have changed, also for the
  // window: to be asked after each event but `start`.
  SendRate rate(Time now);

  CongestionSnapshot snapshot() const { return algorithm_->snapshot(); }

 private:
  const std::unique_ptr<CongestionControl> algorithm_;
  const Nanoseconds idle_;
  FlightRecord record_;
  SendAllowance allowed_;
  std::uint32_t packet_bytes_ = 1024;
  Time last_sent_{};
  bool has_sent_ = false;
};

}  // namespace urnic::transport
