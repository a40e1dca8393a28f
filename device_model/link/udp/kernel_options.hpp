// Options of UDP sockets. Those of linux/udp.h are here because it does not go with netinet/udp.h.
#pragma once

#include <sys/socket.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

namespace urnic::link {

// False, with errno, if the kernel refuses it.
inline bool set_option(int socket, int level, int option, int value) {
  return setsockopt(socket, level, option, &value, sizeof value) == 0;
}

}  // namespace urnic::link
