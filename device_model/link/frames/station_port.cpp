#include "device_model/link/frames/station_port.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "device_model/link/frame_pool.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::link {

using wire::infiniband::kVariantCrcBytes;

void StationPort::open(memory::Descriptor socket, const wire::MacAddress& address) {
  socket_ = std::move(socket);
  link_layer_ = wire::LinkLayer::ethernet;
  address_ = address;
  outgoing_.clear();
  if (!batch_) batch_.emplace(counters_);
}

void StationPort::open_in_subnet(memory::Descriptor socket) {
  open(std::move(socket), {});
  link_layer_ = wire::LinkLayer::infiniband;
  leaving_.reserve(kMostFrameBytes);
}

// An end of the stream is readable for ever: it would keep the engine awake.
bool StationPort::has_ended() const {
  std::byte byte;
  return recv(socket_.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
}

std::optional<wire::Frame> StationPort::frame_of(std::span<const std::byte> message) const {
  if (link_layer_ == wire::LinkLayer::ethernet) return wire::Frame{message, {}, {}};
  if (!wire::infiniband::has_right_variant_crc(message)) return {};
  return wire::Frame{message.first(message.size() - kVariantCrcBytes), {}, {}, nullptr, link_layer_};
}

Load StationPort::room(const Port& port, transport::Time now, const Load& most) const {
  if (link_layer_ == wire::LinkLayer::ethernet) return most;
  const std::size_t frames = port.room(now, kSlotBytes) / kSlotBytes;
  return {static_cast<std::uint32_t>(std::min<std::size_t>(frames, most.frames)), most.bytes};
}

void StationPort::take(Port& port, transport::Time now, const Load& most) {
  if (!socket_) return;
  const std::uint64_t impossible = counters_.impossible_length;
  for (const std::span<std::byte> message : batch_->receive(socket_.get(), room(port, now, most))) {
    ++given_;
    const auto frame = frame_of(message);
    if (!frame) continue;
    const PacketOrigin origin{.identity = {.count = ++received_},
                              .queue_pair = kUnknownQpn,
                              .first_psn = {},
                              .selective_acks = transport::SelectiveAcks::outside,
                              .device = address_};
    port.transmit(*frame, origin, now);
  }
  if (counters_.impossible_length != impossible && has_ended()) close();
}

void StationPort::release() {
  given_ = 0;
  if (batch_) batch_->release();
}

void StationPort::arrive(const wire::Frame& frame, const PacketOrigin&) {
  if (!socket_) return;
  if (link_layer_ == wire::LinkLayer::ethernet) {
    outgoing_.add(frame);
    return;
  }
  leaving_.clear();
  for (const auto piece : {frame.headers, frame.payload, frame.trailer})
    leaving_.insert(leaving_.end(), piece.begin(), piece.end());
  wire::infiniband::append_variant_crc(leaving_);
  outgoing_.add({leaving_, {}, {}});
}

void StationPort::flush() {
  if (outgoing_.empty()) return;
  int error = 0;
  if (socket_) batch_->send(socket_.get(), outgoing_.bytes(), error);
  outgoing_.clear();
}

}  // namespace urnic::link
