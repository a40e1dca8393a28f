#include "device_model/link/socket_options.hpp"

#include <sys/socket.h>

namespace urnic::link {
namespace {

constexpr int kBufferBytes = 4 << 20;

void enlarge(int socket, int privileged_option, int option) {
  if (!set_option(socket, SOL_SOCKET, privileged_option, kBufferBytes))
    set_option(socket, SOL_SOCKET, option, kBufferBytes);
}

}  // namespace

bool set_option(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

void enlarge_receive_buffer(int socket) { enlarge(socket, SO_RCVBUFFORCE, SO_RCVBUF); }

void enlarge_send_buffer(int socket) { enlarge(socket, SO_SNDBUFFORCE, SO_SNDBUF); }

}  // namespace urnic::link
