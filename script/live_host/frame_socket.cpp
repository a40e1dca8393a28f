#include "script/live_host/frame_socket.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "script/failed_call.hpp"
#include "wire/byte_order.hpp"

namespace urnic::script {
namespace {

constexpr int kPatienceMs = 30'000;

[[noreturn]] void fail_ended() {
  throw std::system_error(ENOTCONN, std::generic_category(), "the script's port: the other side has ended");
}

// Leaves EAGAIN or EINTR in errno where it is worth another try.
void wait_for_room(int socket) {
  pollfd room{socket, POLLOUT, 0};
  const int ready = poll(&room, 1, kPatienceMs);
  if (ready == 0) errno = ETIMEDOUT;
  if (ready > 0) errno = EAGAIN;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  path.copy(address.sun_path, path.size());
  return address;
}

}  // namespace

// The device process takes none while the subnet has no room for packets.
void FrameMessages::send(std::span<const std::byte> frame) {
  while (::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) {
    if (errno == EAGAIN) wait_for_room(socket_.get());
    if (errno != EAGAIN && errno != EINTR) fail("the script's port");
  }
}

std::optional<Bytes> FrameMessages::receive() {
  Bytes frame(link::kMostFrameBytes);
  const ssize_t count = recv(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (count < 0) fail("the script's port");
  if (count == 0) fail_ended();
  frame.resize(static_cast<std::size_t>(count));
  return frame;
}

void FrameStream::send(std::span<const std::byte> frame) {
  Bytes bytes(link::kLengthBytes);
  wire::store_be32(bytes.data(), static_cast<std::uint32_t>(frame.size()));
  bytes.insert(bytes.end(), frame.begin(), frame.end());
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::send(socket_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) fail("the script's port");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

std::optional<Bytes> FrameStream::receive() {
  std::span<std::byte> frame = reader_.next();
  if (frame.empty()) {
    reader_.release();
    const auto space = reader_.space();
    const ssize_t count = recv(socket_.get(), space.data(), space.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (count < 0) fail("the script's port");
    if (count == 0) fail_ended();
    reader_.filled(static_cast<std::size_t>(count));
    frame = reader_.next();
  }
  if (reader_.broken()) {
    throw std::system_error(EPROTO, std::generic_category(),
                            "the script's port: the other side sent a length that no frame has");
  }
  if (frame.empty()) return {};
  return Bytes(frame.begin(), frame.end());
}

std::shared_ptr<FrameSocket> open_frame_stream(const std::string& path) {
  const sockaddr_un address = address_of(path);
  memory::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) fail("socket");
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(path);
  return std::make_shared<FrameStream>(std::move(socket));
}

}  // namespace urnic::script
