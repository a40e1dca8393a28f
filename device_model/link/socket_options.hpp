// Options of the sockets that packets leave and come by.
#pragma once

namespace urnic::link {

// False, with errno, if the kernel refuses it.
bool set_option(int socket, int level, int option, int value);

// Room for 3 ms at 10 Gbit/s, or less where the kernel cuts it to net.core.rmem_max or wmem_max: only a user
// with CAP_NET_ADMIN may have more. A socket whose buffer stays small works, and drops more.
void enlarge_receive_buffer(int socket);
void enlarge_send_buffer(int socket);

}  // namespace urnic::link
