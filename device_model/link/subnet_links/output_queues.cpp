#include "device_model/link/subnet_links/output_queues.hpp"

namespace urnic::link {

void OutputQueues::resize(std::size_t ports, std::size_t lanes) {
  if (ports == ports_ && lanes == lanes_) return;
  ports_ = ports;
  lanes_ = lanes;
  inputs_.assign(ports * lanes * ports, {});
  last_.assign(ports * lanes, kNobody);
}

std::uint16_t OutputQueues::turn(PortLane at) const {
  const std::uint16_t last = last_[place(at)];
  return last == kNobody ? kNobody : input_of(at, last).next;
}

void OutputQueues::push(PortLane at, std::uint8_t input, std::uint32_t packet) {
  Input& in = input_of(at, input);
  const bool is_new = in.packets.empty();
  in.packets.push(packets_, packet);
  if (!is_new) return;
  std::uint16_t& last = last_[place(at)];
  if (last == kNobody) {
    in.next = input;
  } else {
    Input& before = input_of(at, last);
    in.next = before.next;
    before.next = input;
  }
  last = input;
}

std::uint32_t OutputQueues::pop(PortLane at) {
  std::uint16_t& last = last_[place(at)];
  const std::uint16_t own = turn(at);
  Input& in = input_of(at, own);
  const std::uint32_t packet = in.packets.pop(packets_);
  if (!in.packets.empty()) {
    last = own;
  } else if (last == own) {
    last = kNobody;
  } else {
    input_of(at, last).next = in.next;
  }
  return packet;
}

}  // namespace urnic::link
