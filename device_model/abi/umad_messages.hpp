// The protocol behind /dev/infiniband/umadN, between the kernel stand-in and the device process.
//
// A program that opens the node gets a SOCK_SEQPACKET connection to RUN/dev/umadN. Packets for `read` arrive
// on it as the program is to see them, a message each, so that poll, epoll and O_NONBLOCK are right by
// themselves. A write or ioctl is a message to the device process, with one end of a socket pair of its own
// for the answer.
//
// Behind each request the stand-in sends a mark, and the device process leaves the last mark in its end of
// the connection. So the kernel makes the program's `read` fail with ECONNRESET when the device process ends;
// else it would return 0, which libibumad takes for a packet.
#pragma once

#include <cstdint>

namespace urnic::abi {

inline constexpr std::uint32_t kUmadMagic = 0x6E72751C;

// What is behind the header.
enum class UmadRequestKind : std::uint32_t {
  write = 1,             // the packet: ib_user_mad_hdr or ib_user_mad_hdr_old, and a MAD
  register_agent = 2,    // ib_user_mad_reg_req
  register_agent2 = 3,   // ib_user_mad_reg_req2
  unregister_agent = 4,  // the agent's number, 32 bits
  enable_pkey = 5,       // nothing
};

// Begins each message to the device process. Anything else closes the connection.
struct UmadRequest {
  std::uint32_t magic;  // kUmadMagic
  std::uint32_t kind;   // UmadRequestKind
};

// How long a mark is.
inline constexpr std::uint32_t kUmadMarkBytes = 1;

// Begins each answer. Behind it the ioctl's argument as the program is to see it, also with some errors.
struct UmadReply {
  std::uint32_t magic;  // kUmadMagic
  std::int32_t error;   // 0, or a positive errno
};

// The first and only message of a program that opens issmN, by which it becomes its port's subnet manager.
// The answer is an UmadReply: 0 once it is, as long as the connection lasts; EAGAIN if another program is,
// and this one does not wait.
struct IssmRequest {
  std::uint32_t magic;     // kUmadMagic
  std::uint32_t may_wait;  // 1: it waits until the other one has gone
};

// The longest packet with one MAD: a 64-byte header, and the MAD.
inline constexpr std::uint32_t kMaxUmadPacket = 64 + 256;

// The longest packet, whose message is several MADs: all paths between the 648 hosts of a fat tree are 27 MB.
// A socket takes no message of that length, so a part of it goes beside the socket's message, through that
// message's last descriptor:
// - written, the bytes behind the first kMaxUmadPacket. They are a file in memory.
// - read, the bytes behind the header and the first MAD, if there are more. They come through a stream
//   socket, as the program reads them; the header's `length` says how many. A reader that closes it drops the
//   rest. The next such packet comes when all of it is read, or nobody has the descriptor any more.
inline constexpr std::uint32_t kMostUmadBytes = 32 << 20;

}  // namespace urnic::abi
