#include "device_model/control/umad/unread_packets.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

bool UnreadPackets::add(std::span<const std::byte> header, std::vector<std::byte> message) {
  Packet packet{{header.begin(), header.end()}, std::move(message)};
  packet.first.insert(packet.first.end(), packet.message.begin(),
                      packet.message.begin() + wire::mad::kMadBytes);
  return add(std::move(packet));
}

bool UnreadPackets::add(Packet packet) {
  // What has been read meanwhile does not count.
  hand_over();
  if (waiting_.size() >= kMost) return false;
  const std::size_t more = packet.message.capacity();
  if (is_long(packet) && !memory_.hold(held() + more)) return false;
  held_waiting_ += more;
  waiting_.push_back(std::move(packet));
  if (waiting_.size() == 1) hand_over();
  return true;
}

void UnreadPackets::hand_over() {
  if (rest_ && rest_->leave()) rest_.reset();
  while (!waiting_.empty()) {
    const std::size_t less = waiting_.front().message.capacity();
    if (!hand_over(waiting_.front())) break;
    held_waiting_ -= less;
    waiting_.pop_front();
  }
  memory_.hold(held());
}

// False: it has to wait.
bool UnreadPackets::hand_over(Packet& packet) {
  if (!is_long(packet)) return send_message(socket_, packet.first, {});
  if (rest_) return false;
  const std::size_t bytes = packet.message.size();
  try {
    return hand_over_long(packet);
  } catch (const std::system_error& failure) {
    log::warn("{}: a management message of {} bytes is lost: {}", device_, bytes, failure.code().message());
    return true;
  }
}

bool UnreadPackets::hand_over_long(Packet& packet) {
  RestStream& rest = rest_.emplace(loop_, std::move(packet.message), wire::mad::kMadBytes, ready_);
  const memory::Descriptor end = rest.take_end();
  if (send_message(socket_, packet.first, {{end.get()}})) {
    rest.leave();
    return true;
  }
  const int error = errno;
  packet.message = rest.take_message();
  rest_.reset();
  if (error == ETOOMANYREFS) throw std::system_error(error, std::generic_category());
  return false;
}

}  // namespace urnic::control
