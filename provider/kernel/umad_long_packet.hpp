// Packets of umad nodes, also those of which a part does not go through the node's socket, but through a
// descriptor that goes with it (device_model/abi/umad_messages.hpp).
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

struct PacketBytes {
  void* data;
  size_t size;
};

// The rest of a packet that a program writes: the caller owns the descriptor. -1 and errno: EFAULT if `data`
// is not there, ENOMEM if the program may not write files of that length, and what memfd_create says.
int make_packet_rest(const void* data, size_t size);

// Its lengths in bytes.
struct NextPacket {
  size_t beginning;  // its header and its first datagram
  size_t whole;      // and all others
};

// Waits for the next packet as `read` does, and copies its beginning; the packet stays. `room` has at least
// 56 bytes. 0 or an errno: EMFILE if the packet has a rest and the program can have no descriptor more, EIO
// if the device process is gone.
int peek_packet(int node, const PacketBytes& room, NextPacket& next);

// Waits for the next packet and takes it. What there is no room for is lost. -1 and errno.
ssize_t read_packet(int node, const PacketBytes& room);

}  // namespace urnic::kernel
