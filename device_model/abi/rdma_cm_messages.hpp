// The protocol behind /dev/infiniband/rdma_cm, between the kernel stand-in and the device process.
//
// A *channel* is a SOCK_SEQPACKET connection to RUN/dev/rdma_cm: what a program gets when it opens the node.
// Commands travel on it to the device process, as the program wrote them. Back come only *event tokens* of
// one byte: one for each event that is queued, up to kMaxEventTokens, so that poll, epoll and O_NONBLOCK are
// right by themselves. GET_EVENT takes one token and is then sent as a command; EAGAIN means that the event
// is gone.
//
// Answers travel on a *reply socket*: another connection to the same node, which its first message makes one.
// A reply socket belongs to one process and serves one command at a time, on any channel.
#pragma once

#include <cstdint>

namespace urnic::abi {

inline constexpr std::uint32_t kRdmaCmMagic = 0x6E72751B;
// Tokens that lie in a channel at most: a socket's buffer is small.
inline constexpr std::uint32_t kMaxEventTokens = 16;

enum class RdmaCmRequestKind : std::uint32_t {
  open_reply_socket = 1,  // on a new connection; the answer on it is its name
  command = 2,            // a command of <rdma/rdma_user_cm.h>
  name_channel = 3,       // the answer names the channel, for one MIGRATE_ID
};

// A secret that the device process has made. Only the process that has been told it can name the socket.
struct SocketName {
  std::uint8_t bytes[16];
};

// Begins each message to the device process. Behind it: the command with its header, then the bytes of the
// option (SET_OPTION). A message that says otherwise closes the connection.
struct RdmaCmRequest {
  std::uint32_t magic;  // kRdmaCmMagic
  std::uint32_t kind;   // RdmaCmRequestKind
  SocketName reply;     // where the answer goes
  SocketName channel;   // MIGRATE_ID: the channel that has the identifier so far
  std::uint32_t command_length;
  std::uint32_t option_length;
};

// Begins each answer. Behind it: `length` bytes for the program's response pointer.
struct RdmaCmReply {
  std::uint32_t magic;    // kRdmaCmMagic
  std::int32_t error;     // 0, or a positive errno
  std::uint32_t discard;  // tokens to take off the channel: their events went with the command
  std::uint32_t length;
};

// The longest command with its header: WRITE_CM_EVENT.
inline constexpr std::uint32_t kMaxRdmaCmCommand = 328;
// A set of path records (RDMA_OPTION_IB_PATH): six of 72 bytes.
inline constexpr std::uint32_t kMaxRdmaCmOption = 432;
inline constexpr std::uint32_t kMaxRdmaCmRequest =
    sizeof(RdmaCmRequest) + kMaxRdmaCmCommand + kMaxRdmaCmOption;
// The longest answer: QUERY(PATH) with six paths.
inline constexpr std::uint32_t kMaxRdmaCmAnswer = 440;

}  // namespace urnic::abi
