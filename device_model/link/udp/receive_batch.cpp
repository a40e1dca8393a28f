#include "device_model/link/udp/receive_batch.hpp"

#include <algorithm>
#include <cstring>

namespace urnic::link {
namespace {

// The kernel gives TOS as a byte and the other values as an int (ip(7), ipv6(7)).
std::uint8_t value_of(const cmsghdr& control) {
  if (control.cmsg_level == IPPROTO_IP && control.cmsg_type == IP_TOS) return *CMSG_DATA(&control);
  int value = 0;
  std::memcpy(&value, CMSG_DATA(&control), sizeof value);
  return static_cast<std::uint8_t>(value);
}

bool is_traffic_class(const cmsghdr& control) {
  return control.cmsg_level == IPPROTO_IP ? control.cmsg_type == IP_TOS : control.cmsg_type == IPV6_TCLASS;
}

}  // namespace

ReceiveBatch::ReceiveBatch()
    : messages_(std::make_unique<std::array<mmsghdr, kDatagrams>>()),
      slots_(std::make_unique_for_overwrite<Slot[]>(kDatagrams)) {
  for (std::uint32_t number = 0; number < kDatagrams; ++number) {
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
void ReceiveBatch::prepare(std::uint32_t number) {
  msghdr& header = (*messages_)[number].msg_hdr;
  header.msg_namelen = sizeof(SocketAddress);
  header.msg_controllen = kControlBytes;
}

std::uint32_t ReceiveBatch::receive(int socket, std::uint32_t most) {
  most = std::min({most, kPerCall, room()});
  if (most == 0) return 0;
  const int received = recvmmsg(socket, messages_->data() + in_use_, most, MSG_DONTWAIT, nullptr);
  if (received <= 0) return 0;
  in_use_ += static_cast<std::uint32_t>(received);
  return static_cast<std::uint32_t>(received);
}

ReceivedDatagram ReceiveBatch::at(std::uint32_t number) {
  Slot& slot = slots_[number];
  mmsghdr& message = (*messages_)[number];
  ReceivedDatagram datagram;
  datagram.source = slot.source;
  datagram.whole = (message.msg_hdr.msg_flags & MSG_TRUNC) == 0;
  datagram.bytes = std::span(slot.bytes).first(std::min<std::size_t>(message.msg_len, kDatagramBytes));
  datagram.headers = &slot.headers;
  for (cmsghdr* control = CMSG_FIRSTHDR(&message.msg_hdr); control != nullptr;
       control = CMSG_NXTHDR(&message.msg_hdr, control)) {
    (is_traffic_class(*control) ? datagram.traffic_class : datagram.hop_limit) = value_of(*control);
  }
  prepare(number);
  return datagram;
}

}  // namespace urnic::link
