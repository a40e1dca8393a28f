// UNIX sockets by path, and the users that may connect to one.
#pragma once

#include <sys/un.h>

#include <string>

#include "device_model/link/frames/carrier_settings.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

// Throw std::system_error. `type` is SOCK_STREAM or SOCK_DGRAM; sockets do not block.
sockaddr_un unix_address(const std::string& path);
memory::Descriptor make_unix_socket(const std::string& path, int type);
// Binds to `path`, with the mode of files that `access` asks for. A path that nobody serves any more is taken
// over.
void bind_unix_socket(int socket, const std::string& path, int type, const ListenerAccess& access);

// False, with errno: nobody serves the path.
bool connect_unix_socket(int socket, const sockaddr_un& address);

// Whether the process at the other end of `socket` may be there.
bool is_admitted(int socket, const ListenerAccess& access);

}  // namespace urnic::link
