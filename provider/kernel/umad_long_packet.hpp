// Packets of umad nodes that are longer than kMaxUmadPacket: what does not go through the node's socket is a
// file in memory that goes with it (device_model/abi/umad_messages.hpp).
#pragma once

#include <stddef.h>
#include <sys/types.h>

namespace urnic::kernel {

struct PacketBytes {
  void* data;
  size_t size;
};

// The rest of a packet that a program writes: the caller owns the descriptor. -1 and errno: EFAULT if `data`
// is not there, and what memfd_create says.
int make_packet_rest(const void* data, size_t size);

// Copies the beginning of the next packet, which stays; `whole` becomes the length of all of it. `room` has
// at least 312 bytes. 0 or an errno: EMFILE if the program can have no descriptor more.
int peek_long_packet(int node, const PacketBytes& room, size_t& whole);

// Takes the next packet, which may be a short one, as `read` does. -1 and errno.
ssize_t read_long_packet(int node, const PacketBytes& room);

}  // namespace urnic::kernel
