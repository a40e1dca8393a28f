// The protocol behind /dev/infiniband/rdma_cm, between the kernel stand-in and the device process.
//
// A *channel* is a SOCK_SEQPACKET connection to RUN/dev/rdma_cm: what a program gets when it opens the node.
// Commands travel on it to the device process, as the program wrote them. Back come only *event tokens*: one
// for each event, up to kMaxEventTokens, so that poll, epoll and O_NONBLOCK are right by themselves.
// GET_EVENT takes one token, of one byte, and is then sent as a command; EAGAIN means that the event is gone.
//
// Answers travel on a *reply socket*: another connection to the same node, which its first message makes one.
// A reply socket belongs to one process and serves one command at a time, on any channel.
//
// A token may carry its event, if the program has said that it takes such: then GET_EVENT needs no command.
// Taking the token off the socket, which the kernel does for one thread only, is then taking the event. The
// device process sees from what lies unread in its socket whether that has happened. Before it takes such an
// event back, for DESTROY_ID, it counts up `withdrawals`: a program that finds another count than the token's
// asks by GET_EVENT.
//
// With an event come *further answers*: those to the questions about its identifier that librdmacm asks next.
// They are right until the identifier changes, which the page IdentifierChanges tells. Then the program asks.
// One is a consent: ACCEPT of the active side, once, needs no answer. The device refuses it only if a message
// of the peer overtakes it, as it could be overtaken in the network: an event tells that.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace urnic::abi {

inline constexpr std::uint32_t kRdmaCmMagic = 0x6E72751C;
// Tokens that lie in a channel at most: a socket's buffer is small.
inline constexpr std::uint32_t kMaxEventTokens = 16;

enum class RdmaCmRequestKind : std::uint32_t {
  open_reply_socket = 1,  // on a new connection; the answer on it is its name, with the page's descriptor
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
  std::uint32_t magic;         // kRdmaCmMagic
  std::uint32_t kind;          // RdmaCmRequestKind
  SocketName reply;            // where the answer goes; zeros: nowhere
  SocketName channel;          // MIGRATE_ID: the channel that has the identifier so far
  std::uint32_t takes_events;  // 1: tokens may carry events
  std::uint32_t token;  // GET_EVENT: the number of the token that carries the event; 0: none was carried
  std::uint32_t command_length;
  std::uint32_t option_length;
};

// Begins each answer. Behind it: `length` bytes for the program's response pointer, and further answers.
struct RdmaCmReply {
  std::uint32_t magic;    // kRdmaCmMagic
  std::int32_t error;     // 0, or a positive errno
  std::uint32_t discard;  // tokens to take off the channel: their events went with the command
  std::uint32_t length;
  std::uint32_t further_length;  // bytes, with the header; 0: none
};

// What GET_EVENT is answered about a token whose event the program has already.
inline constexpr std::int32_t kEventIsTaken = -1;

// Begins the further answers.
struct FurtherAnswers {
  std::uint32_t identifier;
  std::uint32_t changes;  // the identifier's counter; what follows is right as long as it stays
};
// Begins each of them. Behind it: `length` bytes, the whole answer.
struct FurtherAnswer {
  std::uint16_t command;   // QUERY, INIT_QP_ATTR, or ACCEPT
  std::uint16_t selector;  // QUERY: the option; INIT_QP_ATTR: the state; ACCEPT: 0
  std::uint32_t length;
};

// Written by the device process only, on a page of its own. A counter is raised before anybody can learn that
// an answer about one of its identifiers would be another one now.
struct IdentifierChanges {
  std::array<std::atomic<std::uint32_t>, 1024> counters;
  std::atomic<std::uint32_t> withdrawals;  // of events that have gone with their tokens, of all identifiers

  std::uint32_t of(std::uint32_t identifier) const {
    return counters[identifier % counters.size()].load(std::memory_order_acquire);
  }
};
inline constexpr std::size_t kIdentifierChangesBytes = 8192;
static_assert(sizeof(IdentifierChanges) <= kIdentifierChangesBytes);

// The longest command with its header: WRITE_CM_EVENT.
inline constexpr std::uint32_t kMaxRdmaCmCommand = 328;
// A set of path records (RDMA_OPTION_IB_PATH): six of 72 bytes.
inline constexpr std::uint32_t kMaxRdmaCmOption = 432;
inline constexpr std::uint32_t kMaxRdmaCmRequest =
    sizeof(RdmaCmRequest) + kMaxRdmaCmCommand + kMaxRdmaCmOption;
// The longest answer: QUERY(PATH) with six paths.
inline constexpr std::uint32_t kMaxRdmaCmAnswer = 440;
// The longest further answer: QUERY(ADDR).
inline constexpr std::uint32_t kMaxFurtherAnswer = 280;
// The most, of CONNECT_REQUEST: three of QUERY, three of INIT_QP_ATTR. CONNECT_RESPONSE has three and a
// consent.
inline constexpr std::uint32_t kMaxFurtherAnswers =
    sizeof(FurtherAnswers) + 6 * sizeof(FurtherAnswer) + 2 * 280 + 80 + 3 * 144;

// rdma_ucm_event_resp.
inline constexpr std::uint32_t kRdmaCmEvent = 336;

// A token, on a channel whose program takes events. All are equally long, so that those that are unread can
// be counted.
struct EventToken {
  std::uint32_t magic;        // kRdmaCmMagic: it carries an event
  std::uint32_t number;       // of the token; not 0
  std::uint32_t withdrawals;  // the event is the reader's as long as the counter stays
  std::uint32_t further_length;
  unsigned char event[kRdmaCmEvent];
  unsigned char further[kMaxFurtherAnswers];
};

}  // namespace urnic::abi
