#include "device_model/link/frames/frame_batch.hpp"

#include <linux/if_packet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

// The tag that the kernel has taken out of a frame; false: none.
bool find_tag(msghdr& header, tpacket_auxdata& data) {
  for (cmsghdr* control = CMSG_FIRSTHDR(&header); control != nullptr;
       control = CMSG_NXTHDR(&header, control)) {
    if (control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA) continue;
    std::memcpy(&data, CMSG_DATA(control), sizeof data);
    return (data.tp_status & TP_STATUS_VLAN_VALID) != 0;
  }
  return false;
}

}  // namespace

FrameBatch::FrameBatch(CarrierCounters& counters) : counters_(counters), slots_(new Slot[kFrames]) {
  given_.reserve(kFrames);
  for (std::uint32_t number = 0; number < kFrames; ++number) {
    Slot& slot = slots_[number];
    slot.piece = {slot.bytes.data(), slot.bytes.size()};
    messages_[number].msg_hdr.msg_iov = &slot.piece;
    messages_[number].msg_hdr.msg_iovlen = 1;
    messages_[number].msg_hdr.msg_control = slot.control.data();
    prepare(number);
  }
}

// The kernel overwrites the length.
void FrameBatch::prepare(std::uint32_t number) {
  messages_[number].msg_hdr.msg_controllen = slots_[number].control.size();
}

std::span<const std::span<std::byte>> FrameBatch::receive(int socket, const Load& most) {
  given_.clear();
  std::uint32_t left = most.frames;
  for (;;) {
    const std::uint32_t wanted = std::min({left, kPerCall, kFrames - in_use_});
    const int received =
        wanted == 0 ? 0 : recvmmsg(socket, &messages_[in_use_], wanted, MSG_DONTWAIT, nullptr);
    if (received <= 0) return given_;
    for (int i = 0; i < received; ++i) hand_over(in_use_++);
    left -= static_cast<std::uint32_t>(received);
    if (static_cast<std::uint32_t>(received) < wanted) return given_;
  }
}

void FrameBatch::hand_over(std::uint32_t number) {
  Slot& slot = slots_[number];
  mmsghdr& message = messages_[number];
  std::span<std::byte> frame(slot.bytes.data(), std::min<std::size_t>(message.msg_len, slot.bytes.size()));
  tpacket_auxdata data{};
  const bool has_tag = find_tag(message.msg_hdr, data);
  const bool whole = (message.msg_hdr.msg_flags & MSG_TRUNC) == 0;
  prepare(number);
  if (!whole || frame.size() < wire::kEthernetBytes) {
    ++counters_.impossible_length;
    return;
  }
  if (has_tag) {
    std::byte* const begin = frame.data() - wire::kVlanTagBytes;
    std::memmove(begin, frame.data(), wire::kEtherTypeOffset);
    const bool kind_known = (data.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    wire::store_be16(begin + wire::kEtherTypeOffset,
                     kind_known ? data.tp_vlan_tpid : wire::ether_type::kVlan);
    wire::store_be16(begin + wire::kEtherTypeOffset + 2, data.tp_vlan_tci);
    frame = {begin, frame.size() + wire::kVlanTagBytes};
  }
  given_.push_back(frame);
}

std::size_t FrameBatch::send(int socket, std::span<const std::byte> frames, int& error) {
  std::size_t done = 0;
  error = 0;
  while (done < frames.size()) {
    std::uint32_t count = 0;
    for (std::size_t at = done; at < frames.size() && count < kPerCall; ++count) {
      const std::size_t length = wire::load_be32(frames.data() + at);
      at += kLengthBytes;
      pieces_[count] = {const_cast<std::byte*>(frames.data() + at), length};
      outgoing_[count].msg_hdr.msg_iov = &pieces_[count];
      outgoing_[count].msg_hdr.msg_iovlen = 1;
      at += length;
    }
    int sent = sendmmsg(socket, outgoing_.data(), count, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      error = errno;
      if (error == EAGAIN || error == ECONNREFUSED || error == ENOTCONN) return done;
      ++counters_.refused;
      sent = 1;
    }
    for (int i = 0; i < sent; ++i) done += kLengthBytes + pieces_[static_cast<std::size_t>(i)].iov_len;
  }
  return done;
}

}  // namespace urnic::link
