#include "device_model/control/umad/unread_packets.hpp"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "device_model/control/log/log.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/umad/packet_rest.hpp"

namespace urnic::control {
namespace {

// The kernel counts what a message takes in memory, and one byte more while it tells that the message is
// gone (sock_wfree).
constexpr int kLessThanAMessage = 64;

std::size_t long_bytes(const std::vector<std::byte>& packet) {
  return packet.size() > abi::kMaxUmadPacket ? packet.size() : 0;
}

}  // namespace

bool UnreadPackets::add(std::vector<std::byte> packet) {
  const std::size_t longer = long_waiting_ + long_bytes(packet);
  if (waiting_.size() >= kMost || longer > kMostLongBytes) return false;
  if (long_bytes(packet) != 0 && !memory_.hold(longer + long_in_socket_)) return false;
  long_waiting_ = longer;
  waiting_.push_back(std::move(packet));
  if (waiting_.size() == 1) hand_over();
  return true;
}

void UnreadPackets::hand_over() {
  if (long_in_socket_ != 0 && is_read()) long_in_socket_ = 0;
  while (!waiting_.empty() && hand_over(waiting_.front())) {
    long_waiting_ -= long_bytes(waiting_.front());
    waiting_.pop_front();
  }
  memory_.hold(long_waiting_ + long_in_socket_);
}

// False: it has to wait. The socket counts no rests, so it has one of them only.
bool UnreadPackets::hand_over(const std::vector<std::byte>& packet) {
  if (long_bytes(packet) == 0) return send_message(socket_, packet, {});
  if (long_in_socket_ != 0) return false;
  const auto bytes = std::span(packet);
  const memory::Descriptor rest = make_rest(bytes.subspan(abi::kMaxUmadPacket));
  if (rest && send_message(socket_, bytes.first(abi::kMaxUmadPacket), {{rest.get()}})) {
    long_in_socket_ = packet.size();
    return true;
  }
  if (rest && errno != ETOOMANYREFS) return false;
  log::warn("{}: a management message of {} bytes is lost: {}", device_, packet.size(),
            std::generic_category().message(errno));
  return true;
}

bool UnreadPackets::is_read() const {
  int bytes = 0;
  return ioctl(socket_, TIOCOUTQ, &bytes) == 0 && bytes < kLessThanAMessage;
}

}  // namespace urnic::control
