#include "device_model/link/udp/receive_batch.hpp"

#include <netinet/udp.h>

#include <algorithm>
#include <cstring>

#include "device_model/link/udp/kernel_options.hpp"

namespace urnic::link {
namespace {

// The kernel gives TOS as a byte and the other values as an int (ip(7), ipv6(7), udp(7)).
int value_of(const cmsghdr& control) {
  if (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_TOS)
    return std::to_integer<int>(*reinterpret_cast<const std::byte*>(CMSG_DATA(&control)));
  int value = 0;
  std::memcpy(&value, CMSG_DATA(&control), sizeof value);
  return value;
}

bool is_traffic_class(const cmsghdr& control) {
  return control.cmsg_level == IPPROTO_IP ? control.cmsg_type == IP_TOS : control.cmsg_type == IPV6_TCLASS;
}

}  // namespace

ReceiveBatch::ReceiveBatch()
    : messages_(std::make_unique<std::array<mmsghdr, kMessages>>()),
      slots_(new Slot[kMessages]),
      headers_(std::make_unique<std::array<std::byte, wire::kMaxHeaderBytes>[]>(kDatagrams)) {
  for (std::uint32_t number = 0; number < kMessages; ++number) {
    Slot& slot = slots_[number];
    slot.piece = {slot.bytes.data(), slot.bytes.size()};
    msghdr& header = (*messages_)[number].msg_hdr;
    header.msg_name = &slot.source;
    header.msg_iov = &slot.piece;
    header.msg_iovlen = 1;
    header.msg_control = slot.control.data();
    prepare(number);
  }
}

// The kernel overwrites the lengths.
void ReceiveBatch::prepare(std::uint32_t message) {
  msghdr& header = (*messages_)[message].msg_hdr;
  header.msg_namelen = sizeof(SocketAddress);
  header.msg_controllen = kControlBytes;
}

bool ReceiveBatch::receive(int socket, std::uint32_t number) {
  const auto fit = static_cast<std::uint32_t>(kBytesPerCall / std::max<std::size_t>(longest_, 1));
  const std::uint32_t most = std::min(std::clamp(fit, 1u, kPerCall), kMessages - received_);
  if (most == 0) return false;
  const int count = recvmmsg(socket, messages_->data() + received_, most, MSG_DONTWAIT, nullptr);
  if (count <= 0) return false;
  longest_ = 0;
  for (const std::uint32_t end = received_ + static_cast<std::uint32_t>(count); received_ < end;
       ++received_) {
    slots_[received_].socket = number;
    longest_ = std::max<std::size_t>(longest_, (*messages_)[received_].msg_len);
  }
  return static_cast<std::uint32_t>(count) == most;
}

void ReceiveBatch::begin_train() {
  Slot& slot = slots_[taken_];
  mmsghdr& message = (*messages_)[taken_];
  train_ = {};
  train_.begun = true;
  train_.left = std::span(slot.bytes).first(std::min<std::size_t>(message.msg_len, kMessageBytes));
  train_.length = train_.left.size();
  train_.datagram.socket = slot.socket;
  train_.datagram.source = slot.source;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message.msg_hdr); control != nullptr;
       control = CMSG_NXTHDR(&message.msg_hdr, control)) {
    const int value = value_of(*control);
    if (control->cmsg_level == IPPROTO_UDP) {
      if (value > 0) train_.length = static_cast<std::size_t>(value);
    } else if (control->cmsg_level == SOL_SOCKET) {
      train_.datagram.kernel_drops = static_cast<std::uint32_t>(value);
    } else {
      (is_traffic_class(*control) ? train_.datagram.traffic_class : train_.datagram.hop_limit) =
          static_cast<std::uint8_t>(value);
    }
  }
  prepare(taken_);
}

std::optional<ReceivedDatagram> ReceiveBatch::next() {
  if (taken_ == received_ || !has_room()) return {};
  if (!train_.begun) begin_train();
  ReceivedDatagram datagram = train_.datagram;
  datagram.bytes = train_.left.first(std::min(train_.length, train_.left.size()));
  datagram.headers = &headers_[handed_on_++];
  train_.left = train_.left.subspan(datagram.bytes.size());
  ++train_.datagram.before;
  if (train_.left.empty()) {
    train_.begun = false;
    ++taken_;
  }
  return datagram;
}

// Messages that are not all handed on stay, with those before them.
void ReceiveBatch::release() {
  handed_on_ = 0;
  if (taken_ == received_) taken_ = received_ = 0;
}

}  // namespace urnic::link
