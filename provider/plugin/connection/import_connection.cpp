#include "provider/plugin/connection/import_connection.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "provider/plugin/connection/control_connection.hpp"

namespace urnic::provider {
namespace {

// The token comes by a socket of its own: other contexts read from `connection` too and could take a reply.
int ask_for_token(int connection, const Descriptor& answer_to) {
  ControlConnection control;
  control.use(connection);
  const int descriptor = answer_to.get();
  return control.announce({abi::ControlOpcode::tell_token, nullptr, 0, &descriptor, 1, nullptr, 0});
}

int read_token(const Descriptor& from, abi::ContextToken& token) {
  ssize_t length;
  while ((length = recv(from.get(), &token, sizeof token, MSG_WAITALL)) < 0 && errno == EINTR) {
  }
  return length == sizeof token ? 0 : EIO;  // the device process or the context is gone
}

int fetch_token(int connection, abi::ContextToken& token) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  const Descriptor reading(ends[0]);
  {
    const Descriptor writing(ends[1]);
    if (const int error = ask_for_token(connection, writing)) return error;
  }  // closes our writing end, so that the wait ends if the device process ends
  return read_token(reading, token);
}

}  // namespace

int take_own_connection(int descriptor, abi::ContextToken& token) {
  if (const int error = fetch_token(descriptor, token)) return error;
  Descriptor connection;
  if (const int error = connect_to_same_device(descriptor, connection)) return error;
  return dup3(connection.get(), descriptor, O_CLOEXEC) < 0 ? errno : 0;
}

}  // namespace urnic::provider
