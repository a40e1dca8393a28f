#include "device_model/link/frames/frame_socket.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "wire/ethernet.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {

namespace {

// A peer that takes nothing for this long is not waited for: others on the switch have data to send.
constexpr transport::Nanoseconds kPatience{100'000'000};
// How often a device looks whether there is room again.
constexpr transport::Nanoseconds kRoomPeriod{100'000};
constexpr std::uint16_t kVlanIdMask = 0xFFF;

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::system_error(errno, std::generic_category(), path + ": " + what);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    fail(path, "socket of frames");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

memory::Descriptor make_socket(const std::string& path) {
  memory::Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) fail(path, "socket");
  return made;
}

bool try_connect(int descriptor, const sockaddr_un& address) {
  return connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A path that nobody serves any more is taken over.
memory::Descriptor listen_at(const std::string& path) {
  const sockaddr_un address = address_of(path);
  memory::Descriptor listener = make_socket(path);
  const auto try_bind = [&] {
    return bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  };
  if (!try_bind()) {
    if (errno != EADDRINUSE) fail(path, "bind");
    const bool is_served = try_connect(make_socket(path).get(), address) || errno != ECONNREFUSED;
    if (!is_served) unlink(path.c_str());
    if (is_served || !try_bind()) {
      errno = EADDRINUSE;
      fail(path, "bind");
    }
  }
  if (listen(listener.get(), 1) != 0) fail(path, "listen");
  return listener;
}

memory::Descriptor connect_to(const std::string& path) {
  memory::Descriptor peer = make_socket(path);
  if (!try_connect(peer.get(), address_of(path))) fail(path, "connect");
  return peer;
}

transport::Time steady_now() { return transport::Time(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

FrameSocket::FrameSocket(const FrameSocketSettings& settings, std::function<void()> wake)
    : settings_(settings), epoll_(epoll_create1(EPOLL_CLOEXEC)), discovery_(steady_now, std::move(wake)) {
  if (!epoll_) fail(settings.path, "epoll_create1");
  outgoing_.reserve(2 * kMostWaitingBytes);
  memory::Descriptor& watched = settings.listens ? listener_ : peer_;
  watched = settings.listens ? listen_at(settings.path) : connect_to(settings.path);
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, watched.get(), &event) != 0) fail(settings.path, "epoll_ctl");
  if (peer_) ++counters_.connections;
}

FrameSocket::~FrameSocket() {
  if (listener_) unlink(settings_.path.c_str());
}

FrameSocketCounters FrameSocket::counters() const {
  FrameSocketCounters counters = counters_;
  counters.skipped = reader_.skipped();
  return counters;
}

void FrameSocket::accept_peer() {
  peer_ = memory::Descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer_) return;
  epoll_event event{.events = EPOLLIN, .data = {}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, peer_.get(), &event);
  watches_for_room_ = false;
  last_sent_ = now_;
  ++counters_.connections;
}

// The next peer's stream begins with a frame.
void FrameSocket::lose_peer() {
  peer_.reset();
  outgoing_.clear();
  sent_ = 0;
  stream_ended_ = true;
}

void FrameSocket::take(Port& port, transport::Time now, const Load& most) {
  now_ = now;
  if (stream_ended_ && given_ == 0) {
    reader_.restart();
    stream_ended_ = false;
  }
  if (peer_ && !stream_ended_) receive();
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < most.frames && bytes < most.bytes && !stream_ended_; ++i) {
    const std::span<std::byte> frame = reader_.next();
    if (frame.empty()) break;
    bytes += frame.size();
    give(frame, port, now);
  }
  // Behind the loss of a peer: no event tells of a peer that waits since before.
  if (!peer_ && listener_) accept_peer();
  discovery_.run(now, *this);
  flush();
}

void FrameSocket::receive() {
  const std::span<std::byte> space = reader_.space();
  if (space.empty()) return;
  const ssize_t count = recv(peer_.get(), space.data(), space.size(), MSG_DONTWAIT);
  if (count > 0) {
    reader_.filled(static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    lose_peer();
  }
}

// The frame as the devices know it; empty: it is of another VLAN. Tag 0 has a priority and no VLAN (IEEE
// 802.1Q 9.6).
std::optional<std::span<std::byte>> FrameSocket::without_tag(std::span<std::byte> frame) {
  const std::size_t tagged_bytes = wire::kEthernetBytes + wire::kVlanTagBytes;
  const bool tagged = frame.size() >= tagged_bytes &&
                      wire::load_be16(frame.data() + wire::kEtherTypeOffset) == wire::ether_type::kVlan;
  if (!tagged) return settings_.vlan ? std::nullopt : std::optional(frame);
  const auto vlan =
      static_cast<std::uint16_t>(wire::load_be16(frame.data() + wire::kEthernetBytes) & kVlanIdMask);
  if (vlan != settings_.vlan.value_or(0)) return {};
  std::memmove(frame.data() + wire::kVlanTagBytes, frame.data(), wire::kEtherTypeOffset);
  return frame.subspan(wire::kVlanTagBytes);
}

void FrameSocket::give(std::span<std::byte> frame, Port& port, transport::Time now) {
  ++counters_.received_frames;
  counters_.received_bytes += frame.size();
  ++given_;
  const auto plain = without_tag(frame);
  if (!plain) {
    ++counters_.other_vlan;
    return;
  }
  discovery_.receive(*plain, now, *this);
  const PacketOrigin origin{.identity = {.device = 0, .queue_pair = 0, .count = counters_.received_frames},
                            .queue_pair = kUnknownQpn,
                            .first_psn = {},
                            .selective_acks = transport::SelectiveAcks::no,
                            .device = wire::load_mac(plain->data() + wire::kMacBytes)};
  port.transmit({*plain, {}, {}}, origin, now);
}

void FrameSocket::release() {
  given_ = 0;
  reader_.release();
}

void FrameSocket::append(std::span<const std::byte> bytes) {
  outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
}

void FrameSocket::arrive(const wire::Frame& frame, const PacketOrigin&) {
  if (frame.headers.size() < wire::kEthernetBytes) return;
  if (!peer_) {
    ++counters_.unconnected;
    return;
  }
  const std::size_t size = frame.size() + (settings_.vlan ? wire::kVlanTagBytes : 0);
  if (waiting() + kLengthBytes + size > kMostWaitingBytes) {
    ++counters_.overruns;
    return;
  }
  std::array<std::byte, kLengthBytes> length;
  wire::store_be32(length.data(), static_cast<std::uint32_t>(size));
  append(length);
  append(frame.headers.first(wire::kEtherTypeOffset));
  if (settings_.vlan) {
    std::array<std::byte, wire::kVlanTagBytes> tag;
    wire::store_be16(tag.data(), wire::ether_type::kVlan);
    wire::store_be16(tag.data() + 2, *settings_.vlan);
    append(tag);
  }
  append(frame.headers.subspan(wire::kEtherTypeOffset));
  append(frame.payload);
  append(frame.trailer);
  ++counters_.sent_frames;
  counters_.sent_bytes += size;
}

void FrameSocket::flush() {
  if (waiting() == 0 || !peer_) return;
  const ssize_t count = ::send(peer_.get(), outgoing_.data() + sent_, waiting(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (count < 0 && errno != EAGAIN && errno != EINTR) return lose_peer();
  if (count > 0) {
    sent_ += static_cast<std::size_t>(count);
    last_sent_ = now_;
  }
  watch_for_room(waiting() != 0);
  if (waiting() != 0 && sent_ < kMostWaitingBytes) return;
  outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(sent_));
  sent_ = 0;
}

void FrameSocket::watch_for_room(bool watch) {
  if (watch == watches_for_room_) return;
  watches_for_room_ = watch;
  epoll_event event{.events = EPOLLIN | (watch ? std::uint32_t{EPOLLOUT} : 0u), .data = {}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer_.get(), &event);
}

bool FrameSocket::has_room(transport::Time now) const {
  return waiting() < kFullBytes || now - last_sent_ > kPatience;
}

transport::Time FrameSocket::room_at() const {
  return waiting() < kFullBytes ? transport::Time{} : now_ + kRoomPeriod;
}

}  // namespace urnic::link
