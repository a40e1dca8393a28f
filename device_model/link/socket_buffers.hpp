// The buffers that the kernel gives to a socket of packets.
#pragma once

namespace urnic::link {

// Room for 3 ms at 10 Gbit/s, or less where the kernel cuts it to net.core.rmem_max or wmem_max: only a user
// with CAP_NET_ADMIN may have more. A socket whose buffer stays small works, and drops more.
void enlarge_receive_buffer(int socket);
void enlarge_send_buffer(int socket);

}  // namespace urnic::link
