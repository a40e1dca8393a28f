#include "device_model/link/frames/station_port.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace urnic::link {

void StationPort::open(memory::Descriptor socket, const wire::MacAddress& address) {
  socket_ = std::move(socket);
  address_ = address;
  outgoing_.clear();
  if (!batch_) batch_.emplace(counters_);
}

// An end of the stream is readable for ever: it would keep the engine awake.
bool StationPort::has_ended() const {
  std::byte byte;
  return recv(socket_.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void StationPort::take(Port& port, transport::Time now, const Load& most) {
  if (!socket_) return;
  const std::uint64_t impossible = counters_.impossible_length;
  for (const std::span<std::byte> frame : batch_->receive(socket_.get(), most)) {
    ++given_;
    const PacketOrigin origin{.identity = {.count = ++received_},
                              .queue_pair = kUnknownQpn,
                              .first_psn = {},
                              .selective_acks = transport::SelectiveAcks::outside,
                              .device = address_};
    port.transmit({frame, {}, {}}, origin, now);
  }
  if (counters_.impossible_length != impossible && has_ended()) close();
}

void StationPort::release() {
  given_ = 0;
  if (batch_) batch_->release();
}

void StationPort::arrive(const wire::Frame& frame, const PacketOrigin&) {
  if (socket_) outgoing_.add(frame);
}

void StationPort::flush() {
  if (outgoing_.empty()) return;
  int error = 0;
  if (socket_) batch_->send(socket_.get(), outgoing_.bytes(), error);
  outgoing_.clear();
}

}  // namespace urnic::link
