// The packets that wait in a node for its ports: for each output port and lane a list by input port. The
// inputs take turns. A packet waits only for those that leave by the same port in the same lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/link/subnet_links/packet.hpp"

namespace urnic::link {

// A port and one of its lanes.
struct PortLane {
  std::uint8_t port = 0;
  std::uint8_t lane = 0;
};

class OutputQueues {
 public:
  explicit OutputQueues(Packets& packets) : packets_(packets) {}
  // Ports with the numbers below `ports`, lanes below `lanes`; there are packets only if both are the same as
  // before. Allocates `bytes_of` them.
  void resize(std::size_t ports, std::size_t lanes);
  static constexpr std::size_t bytes_of(std::size_t ports, std::size_t lanes) {
    return ports * lanes * (ports * sizeof(Input) + sizeof(std::uint16_t));
  }
  std::uint8_t lanes() const { return static_cast<std::uint8_t>(lanes_); }

  bool empty(PortLane at) const { return turn(at) == kNobody; }
  void push(PortLane at, std::uint8_t input, std::uint32_t packet);
  // The packet whose turn it is; there must be one, here and in `pop`.
  std::uint32_t front(PortLane at) const { return list(at, turn(at)).front(); }
  // Takes it; another input's turn comes then.
  std::uint32_t pop(PortLane at);

  // Calls `visit(packet)` for all that came in at `input`.
  template <class Visit>
  void for_each(PortLane at, std::uint8_t input, Visit visit) const {
    for (std::uint32_t each = list(at, input).front(); each != kNoRecord; each = packets_[each].next)
      visit(packets_[each]);
  }

 private:
  static constexpr std::uint16_t kNobody = 0xFFFF;
  struct Input {
    PacketList packets;
    std::uint16_t next = kNobody;  // the input whose turn comes after this one's, in a circle
  };

  std::size_t place(PortLane at) const { return at.port * lanes_ + at.lane; }
  // The input whose turn it is comes after the last one.
  std::uint16_t turn(PortLane at) const;
  const PacketList& list(PortLane at, std::uint16_t input) const {
    return inputs_[place(at) * ports_ + input].packets;
  }
  Input& input_of(PortLane at, std::uint16_t input) { return inputs_[place(at) * ports_ + input]; }
  const Input& input_of(PortLane at, std::uint16_t input) const {
    return inputs_[place(at) * ports_ + input];
  }

  Packets& packets_;
  std::size_t ports_ = 0;
  std::size_t lanes_ = 0;
  std::vector<Input> inputs_;        // by output port, lane and input port
  std::vector<std::uint16_t> last_;  // by output port and lane: the last input of the circle
};

}  // namespace urnic::link
