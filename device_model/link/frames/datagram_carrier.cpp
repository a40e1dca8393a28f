#include "device_model/link/frames/datagram_carrier.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "device_model/link/frames/unix_socket.hpp"
#include "device_model/link/socket_options.hpp"

namespace urnic::link {
namespace {

// How often the path is connected to again: a peer that has been replaced says nothing, and the new one may
// not connect to this socket while it is connected to the former one (EPERM).
constexpr transport::Nanoseconds kCheck{1'000'000'000};

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw std::system_error(errno, std::generic_category(), name + ": " + what);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

AddressList address_of(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  std::string host = name.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const bool has_port = colon != std::string::npos && colon + 1 < name.size();
  if (!has_port || getaddrinfo(host.c_str(), name.c_str() + colon + 1, &hints, &list) != 0) {
    errno = EINVAL;
    fail(name, "needed is ADDRESS:PORT, such as \"10.0.0.1:5000\" or \"[fd00::1]:5000\", or a path");
  }
  return {list, &freeaddrinfo};
}

}  // namespace

DatagramCarrier::DatagramCarrier(const std::string& local, const std::string& remote)
    : local_(local), remote_(remote) {
  is_path() ? open_unix() : open_udp();
  enlarge_receive_buffer(socket_.get());
  enlarge_send_buffer(socket_.get());
  wake_.add(socket_.get());
}

DatagramCarrier::~DatagramCarrier() {
  if (socket_ && is_path()) unlink(local_.c_str());
}

void DatagramCarrier::open_unix() {
  unix_address(remote_);
  socket_ = make_unix_socket(local_, SOCK_DGRAM);
  bind_unix_socket(socket_.get(), local_, SOCK_DGRAM, {});
  find_peer({});
}

void DatagramCarrier::open_udp() {
  const AddressList local = address_of(local_);
  const AddressList remote = address_of(remote_);
  socket_ = memory::Descriptor(socket(local->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_ || bind(socket_.get(), local->ai_addr, local->ai_addrlen) != 0) fail(local_, "bind");
  if (connect(socket_.get(), remote->ai_addr, remote->ai_addrlen) != 0) fail(remote_, "connect");
  connected_ = true;
}

void DatagramCarrier::find_peer(transport::Time now) {
  connect_again();
  next_try_ = now + (connected_ ? kCheck : kPeerRetry);
}

void DatagramCarrier::connect_again() {
  const bool was_connected = connected_;
  connected_ = connect_unix_socket(socket_.get(), unix_address(remote_));
  counters_.connections += connected_ && !was_connected;
}

std::optional<transport::Time> DatagramCarrier::next_due() const {
  return is_path() ? std::optional(next_try_) : std::nullopt;
}

std::span<const std::span<std::byte>> DatagramCarrier::receive(transport::Time now, const Load& most) {
  if (is_path() && now >= next_try_) find_peer(now);
  return batch_.receive(socket_.get(), most);
}

// A peer that has come back has a new socket. Over UDP a refusal tells of an earlier datagram, and says
// nothing about the next one.
std::size_t DatagramCarrier::send(std::span<const std::byte> frames) {
  int error = 0;
  std::size_t done = batch_.send(socket_.get(), frames, error);
  if (error == ECONNREFUSED || error == ENOTCONN) {
    if (is_path()) connect_again();
    if (connected_) done += batch_.send(socket_.get(), frames.subspan(done), error);
    if (!connected_ || error == ECONNREFUSED) return frames.size();
  }
  wake_.watch_for_room(socket_.get(), error == EAGAIN);
  return done;
}

}  // namespace urnic::link
