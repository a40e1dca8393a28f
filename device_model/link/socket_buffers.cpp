#include "device_model/link/socket_buffers.hpp"

#include <sys/socket.h>

namespace urnic::link {
namespace {

constexpr int kBufferBytes = 4 << 20;

void enlarge(int socket, int privileged_option, int option) {
  if (setsockopt(socket, SOL_SOCKET, privileged_option, &kBufferBytes, sizeof kBufferBytes) != 0)
    setsockopt(socket, SOL_SOCKET, option, &kBufferBytes, sizeof kBufferBytes);
}

}  // namespace

void enlarge_receive_buffer(int socket) { enlarge(socket, SO_RCVBUFFORCE, SO_RCVBUF); }

void enlarge_send_buffer(int socket) { enlarge(socket, SO_SNDBUFFORCE, SO_SNDBUF); }

}  // namespace urnic::link
