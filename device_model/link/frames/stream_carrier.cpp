#include "device_model/link/frames/stream_carrier.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "device_model/link/frames/unix_socket.hpp"
#include "wire/byte_order.hpp"

namespace urnic::link {
namespace {

std::size_t whole_frames(std::span<const std::byte> frames, std::size_t most) {
  std::size_t end = 0;
  while (end + kLengthBytes <= frames.size()) {
    const std::size_t next = end + kLengthBytes + wire::load_be32(frames.data() + end);
    if (next > most) break;
    end = next;
  }
  return end;
}

}  // namespace

StreamCarrier::StreamCarrier(const CarrierSettings& settings)
    : settings_(settings), address_(unix_address(settings.name)) {
  if (settings.kind == CarrierKind::connect) {
    connect_peer({});
    return;
  }
  listener_ = make_unix_socket(settings.name, SOCK_STREAM);
  bind_unix_socket(listener_.get(), settings.name, SOCK_STREAM, settings.access);
  if (listen(listener_.get(), 1) != 0)
    throw std::system_error(errno, std::generic_category(), settings.name + ": listen");
  wake_.add(listener_.get());
}

StreamCarrier::~StreamCarrier() {
  if (listener_) unlink(settings_.name.c_str());
}

CarrierCounters StreamCarrier::counters() const {
  CarrierCounters counters = counters_;
  counters.impossible_length = reader_.skipped();
  return counters;
}

void StreamCarrier::welcome(memory::Descriptor peer) {
  peer_ = std::move(peer);
  wake_.add(peer_.get());
  ++counters_.connections;
}

void StreamCarrier::accept_peer() {
  memory::Descriptor peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer) return;
  if (is_admitted(peer.get(), settings_.access)) return welcome(std::move(peer));
  ++counters_.strangers;
}

// ENOSYS: this process may not make connections any more.
void StreamCarrier::connect_peer(transport::Time now) {
  next_try_ = now + kPeerRetry;
  memory::Descriptor peer = make_unix_socket(settings_.name, SOCK_STREAM);
  if (connect_unix_socket(peer.get(), address_)) return welcome(std::move(peer));
  const bool may_come = errno == ECONNREFUSED || errno == ENOENT || errno == EAGAIN;
  if (now == transport::Time{} && !may_come)
    throw std::system_error(errno, std::generic_category(), settings_.name + ": connect");
}

void StreamCarrier::lose_peer() {
  peer_.reset();
  forget_stream();
}

// The next peer's stream begins with a frame.
void StreamCarrier::forget_stream() {
  wake_.forget_room();
  rest_.clear();
  stream_ended_ = true;
}

std::optional<transport::Time> StreamCarrier::next_due() const {
  if (peer_ || listener_) return {};
  return next_try_;
}

// A listener needs no event for a peer that waits since before the last one went.
void StreamCarrier::find_peer(transport::Time now) {
  if (listener_) return accept_peer();
  if (now >= next_try_) connect_peer(now);
}

std::span<const std::span<std::byte>> StreamCarrier::receive(transport::Time now, const Load& most) {
  given_.clear();
  if (stream_ended_ && !owes_release_) {
    reader_.restart();
    stream_ended_ = false;
  }
  if (peer_ && !stream_ended_) read_stream();
  std::size_t bytes = 0;
  while (given_.size() < most.frames && bytes < most.bytes && !stream_ended_) {
    const std::span<std::byte> frame = reader_.next();
    if (frame.empty()) break;
    bytes += frame.size();
    given_.push_back(frame);
  }
  owes_release_ |= !given_.empty();
  if (peer_ && !stream_ended_ && reader_.broken()) {
    ++counters_.broken_streams;
    lose_peer();
  }
  if (!peer_) find_peer(now);
  return given_;
}

// A listener's peer may be a machine that stands still and goes on later. It would not connect again, so only
// another one takes its place.
void StreamCarrier::peer_stalls(transport::Time now) {
  if (!peer_) return;
  if (listener_) {
    memory::Descriptor stalled = std::move(peer_);
    accept_peer();
    if (!peer_) {
      peer_ = std::move(stalled);
      return;
    }
    forget_stream();
  } else {
    lose_peer();
    connect_peer(now);
  }
  ++counters_.stalled_peers;
}

void StreamCarrier::read_stream() {
  const std::span<std::byte> space = reader_.space();
  if (space.empty()) return;
  const ssize_t count = recv(peer_.get(), space.data(), space.size(), MSG_DONTWAIT);
  if (count > 0) {
    reader_.filled(static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    lose_peer();
  }
}

void StreamCarrier::release() {
  owes_release_ = false;
  reader_.release();
}

// False: there is still a rest.
bool StreamCarrier::send_rest() {
  if (rest_.empty()) return true;
  const ssize_t count = ::send(peer_.get(), rest_.data(), rest_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) lose_peer();
  if (count > 0) rest_.erase(rest_.begin(), rest_.begin() + count);
  return rest_.empty();
}

std::size_t StreamCarrier::send(std::span<const std::byte> frames) {
  if (!peer_ || !send_rest() || !peer_) {
    if (peer_) wake_.watch_for_room(peer_.get(), true);
    return 0;
  }
  const ssize_t count =
      frames.empty() ? 0 : ::send(peer_.get(), frames.data(), frames.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    lose_peer();
    return 0;
  }
  const std::size_t sent = count > 0 ? static_cast<std::size_t>(count) : 0;
  std::size_t done = whole_frames(frames, sent);
  if (done != sent) {  // a frame is under way in part
    const std::size_t end = done + kLengthBytes + wire::load_be32(frames.data() + done);
    rest_.assign(frames.begin() + static_cast<std::ptrdiff_t>(sent),
                 frames.begin() + static_cast<std::ptrdiff_t>(end));
    done = end;
  }
  wake_.watch_for_room(peer_.get(), done != frames.size() || !rest_.empty());
  return done;
}

}  // namespace urnic::link
