// The control protocol between a provider and the device process: what the kernel's uverbs commands are to a
// real NIC. SOCK_SEQPACKET messages on the connection that opening /dev/infiniband/uverbsN makes.
//
// A request is a RequestHeader and the body of its opcode; the answer is a ReplyHeader with the same sequence
// and, when error is 0, the reply body. A connection has one request under way at a time; messages without a
// reply may go before it. Descriptors travel as SCM_RIGHTS in the order that each body's comment gives.
// `open_context`, `open_shared_context` or `join_context` comes first; only `announce_exec` may come before.
// A message of the wrong length, an unknown opcode or a handle of another context is answered with EINVAL; a
// wrong header closes the connection.
//
// Other bodies: memory_messages.hpp (null regions, device memory, dma-bufs, advice, sharing),
// steering_messages.hpp, tag_matching.hpp, query_messages.hpp (what a device and its port can do), and
// uverbs_messages.hpp (commands of the kernel's ABI).
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"

namespace urnic::abi {

inline constexpr std::uint32_t kControlMagic = 0x6E72750A;
inline constexpr std::uint32_t kControlVersion = 8;
inline constexpr std::uint32_t kMaxControlMessage = 1024;

// find_command (control/uverbs/dispatch.cpp) lists the body and the reply of each.
enum class ControlOpcode : std::uint32_t {
  open_context = 1,
  join_context = 2,
  add_completion_channel = 3,  // sent by the kernel stand-in; has no reply
  query_device = 4,
  query_port = 5,
  allocate_pd = 10,
  deallocate_pd = 11,
  register_mr = 12,
  deregister_mr = 13,
  reregister_mr = 14,
  allocate_mw = 15,
  deallocate_mw = 16,
  place_received = 17,
  allocate_reserved_pd = 18,  // has no reply
  create_cq = 20,
  destroy_cq = 21,
  resize_cq = 22,
  modify_cq = 23,
  create_qp = 30,
  modify_qp = 31,
  query_qp = 32,
  destroy_qp = 33,
  set_ece = 35,
  query_ece = 36,
  limit_rate = 37,
  modify_qp_unanswered = 38,  // a ModifyQpRequest; has no reply
  create_srq = 60,
  modify_srq = 61,
  query_srq = 62,
  destroy_srq = 63,
  open_xrcd = 64,
  close_xrcd = 65,
  create_xrc_srq = 66,
  open_qp = 67,
  allocate_null_mr = 40,
  advise_mr = 41,
  allocate_dm = 42,
  free_dm = 43,
  import_dm = 44,
  register_dm_mr = 45,
  register_dma_buf_mr = 46,
  tell_token = 85,  // has no reply
  open_shared_context = 86,
  async_channel = 87,  // sent by the kernel stand-in
  import_pd = 88,
  import_mr = 89,
  create_ah = 70,
  destroy_ah = 71,
  attach_multicast = 72,
  detach_multicast = 73,
  create_flow = 90,
  destroy_flow = 91,
  create_rss_qp = 92,
  destroy_rss_qp = 93,
  create_counters = 120,
  destroy_counters = 121,
  read_counters = 122,
  create_tag_matching = 110,
  announce_exec = 130,   // sent by the kernel stand-in
  uverbs_command = 140,  // the same
  map_pages = 141,       // the same
  watch_page = 142,      // the same
};

// Begins every request.
struct RequestHeader {
  std::uint32_t magic;   // kControlMagic
  std::uint32_t opcode;  // ControlOpcode
  std::uint32_t length;  // of the whole message with this header
  std::uint32_t sequence;
};

// Begins every reply; opcode and sequence are the request's.
struct ReplyHeader {
  std::uint32_t magic;
  std::uint32_t opcode;
  std::uint32_t length;
  std::uint32_t sequence;
  std::int32_t error;  // 0, or a positive errno
  std::uint32_t reserved;
};

// A secret that lets another process join or share a context.
struct ContextToken {
  std::uint8_t bytes[16];
};

// A range of an arena. Arenas are memfds that the device process makes and seals; a reply that names an arena
// for the first time on a connection has arena_is_new = 1 and carries the arena's descriptor.
struct ArenaRange {
  std::uint32_t arena;
  std::uint32_t arena_is_new;
  std::uint64_t arena_size;
  std::uint64_t offset;
  std::uint64_t length;
};

// Descriptors sent: a pidfd of the sender (may be left out, since not every process may make one; then the
// process that has connected counts as the sender), /proc/self/mem (O_RDWR), read end and write end of the
// pipe that carries asynchronous events to the program (16-byte ib_uverbs_async_event_desc records).
struct OpenContextRequest {
  std::uint32_t version;  // kControlVersion
  std::uint32_t reserved;
  char program[64];  // name for status displays, NUL-terminated
};
// Descriptors received: doorbells (memfd, read and write), engine status (memfd, read only), the eventfd that
// wakes the engine.
struct OpenContextReply {
  ContextToken token;
  std::uint32_t context;
  std::uint32_t completion_vectors;
  std::uint32_t reserved_pd;  // as in the reply to deallocate_pd
  std::uint32_t reserved;
};

// A forked child joins its parent's context on a connection of its own. Descriptors sent: pidfd (may be left
// out, as above), /proc/self/mem. Regions that the child registers are in the child's memory. The context
// lives until its last connection closes.
struct JoinContextRequest {
  ContextToken token;
  std::uint32_t version;
  std::uint32_t reserved;
  char program[64];
};
struct JoinContextReply {
  std::uint32_t context;
  std::uint32_t reserved;
};

// Descriptors sent: read end and write end of the channel's pipe. From then on the inode number of the pipe
// (fstat) names the channel. An event is an 8-byte record: the CQ's user_handle.
struct AddCompletionChannelRequest {
  std::uint64_t reserved;
};

// The body of requests and replies that need none.
struct Empty {
  std::uint64_t reserved;
};

// Objects are named by handles, which are numbers within a context.
struct HandleRequest {
  std::uint32_t handle;
  std::uint32_t reserved;
};
struct HandleReply {
  std::uint32_t handle;
  std::uint32_t reserved;
};

// deallocate_pd replies with the handle that the next protection domain of this connection may have, or 0.
// allocate_reserved_pd makes it: the device keeps room for it, and does not refuse it. Until then it does not
// exist.

// IBV_ACCESS_FLUSH_GLOBAL and IBV_ACCESS_FLUSH_PERSISTENT, which the headers of rdma-core 45 and newer
// declare.
inline constexpr std::uint32_t kFlushAccess = 3 << 8;

// Private memory can become shared memory when it is registered (docs/decisions/shared-pages.md). The device
// answers a request that is willing with an offer: pages that the program should exchange, and the descriptor
// of a file in memory, as large, to take their place. Nothing is registered then. The next request on the
// connection is the same one, and says what came of it.
enum class Sharing : std::uint32_t {
  unwilling = 0,  // offer nothing
  willing = 1,
  shared = 2,               // the pages of the offer are shared
  refused_for_threads = 3,  // they are not: SharingCounters (control/fabric/private_memory.hpp)
  refused_for_memory = 4,
  refused_by_kernel = 5,
};
struct PageRange {
  std::uint64_t address = 0;
  std::uint64_t length = 0;  // 0: none
};
struct RegisterMrRequest {
  std::uint64_t address;  // in the sender's address space
  std::uint64_t length;
  std::uint64_t iova;  // of the first byte, for users of the key
  std::uint32_t pd;
  std::uint32_t access;  // ibv_access_flags
  Sharing sharing = Sharing::unwilling;
  std::uint32_t reserved = 0;
};
// Descriptor received, if there are pages: their file.
struct RegisterMrReply {
  std::uint32_t handle;
  std::uint32_t lkey;
  std::uint32_t rkey;
  std::uint32_t reserved;
  // register_mr: the offer; or, of pages that are shared, those that the region does not use after all,
  // without a descriptor. reregister_mr: as DeregisterMrReply::unneeded.
  PageRange pages = {};
};
// Shared pages that no region needs any more, to be made private again. Descriptor received, if there are
// some: their file.
struct DeregisterMrReply {
  PageRange unneeded;
};
// `flags` as ibv_rereg_mr_flags; members whose flag is not set are ignored, and so is
// `change.sharing`: nothing is offered. Replies with RegisterMrReply.
struct ReregisterMrRequest {
  std::uint32_t handle;
  std::uint32_t flags;
  RegisterMrRequest change;
};

// The process at the other end of the connection is about to call exec, or its exec has failed. In between
// the device reaches memory through the mem file of the process's present address space only: the process's
// number would lead to the new program.
struct AnnounceExecRequest {
  std::uint32_t begins;  // 1: exec follows; 0: exec has failed
  std::uint32_t reserved;
};

// Received data that a forked child found in a completion (cqe_inline). It belongs into the memory of the
// process which registered the region. All of it lies in one region with local write access.
struct PlaceReceivedRequest {
  std::uint64_t address;  // as in the receive WQE
  std::uint32_t lkey;
  std::uint32_t length;  // at most kCqeInlineBytes
  std::uint8_t data[kCqeInlineBytes];
};

struct AllocateMwRequest {
  std::uint32_t pd;
  std::uint32_t type;  // ibv_mw_type: 1 or 2
};
struct AllocateMwReply {
  std::uint32_t handle;
  std::uint32_t rkey;
};

struct CreateCqRequest {
  std::uint64_t user_handle;    // the value that events carry: the ibv_cq's address
  std::uint64_t channel_inode;  // 0: none
  std::uint32_t entries;        // wanted; at least this many are given
  std::uint32_t completion_vector;
  std::uint32_t flags = 0;  // CqFlag values
  std::uint32_t reserved = 0;
};
enum CqFlag : std::uint32_t {
  cq_timestamps = 1 << 0,  // its completions say when they were made (queues.hpp, cqe_timestamp)
  // A completion that finds it full is lost, and the CQ stays usable (docs/rules/creation-flags.md). Received
  // data never travel in its CQEs.
  cq_ignore_overrun = 1 << 1,
};
// `ring` holds `entries` Cqe slots, a power of two; `indices` a CompletionQueueIndices.
struct CreateCqReply {
  ArenaRange ring;
  ArenaRange indices;
  std::uint32_t handle;
  std::uint32_t entries;
};
// The object's events that a program has read from a channel (or the asynchronous pipe); the destroying call
// waits until as many are acknowledged. Unread events have been taken out. After the reply to destroy_qp, and
// to modify_qp towards RESET, the device adds no more completions of the QP to any CQ.
struct DestroyReply {
  std::uint32_t completion_events_reported;
  std::uint32_t async_events_reported;
};
struct ResizeCqRequest {
  std::uint32_t handle;
  std::uint32_t entries;
};
// A new ring. The device moves the unread completions of the old ring to its beginning (with the phase of
// their new index), and stores 0 to `consumer`: indices start again with 0 at the first of them. The provider
// keeps all threads from polling during the switch.
struct ResizeCqReply {
  ArenaRange ring;
  std::uint32_t entries;
  std::uint32_t reserved;
};

// One event for `count` completions together, or `period_us` after the first of them. If `count` is below 2
// or the period 0, each completion raises its event at once.
struct ModifyCqRequest {
  std::uint32_t handle;
  std::uint16_t count;
  std::uint16_t period_us;
};

struct CreateQpRequest {
  std::uint64_t user_handle;  // the ibv_qp's address, which asynchronous events carry
  std::uint32_t pd;
  std::uint32_t send_cq;
  std::uint32_t receive_cq;
  std::uint32_t type;  // ibv_qp_type, or kWorkQueue (steering_messages.hpp)
  std::uint32_t max_send_wr;
  std::uint32_t max_receive_wr;
  std::uint32_t max_send_sge;
  std::uint32_t max_receive_sge;
  std::uint32_t max_inline_data;
  std::uint32_t signal_all;  // sq_sig_all
  std::uint32_t srq;         // handle of the SRQ with its receive WQEs; 0: it has a receive queue
  std::uint32_t xrcd;        // IBV_QPT_XRC_RECV: handle of its XRC domain; PD, CQs, sizes and SRQ are ignored
  std::uint32_t flags;       // QpFlag values
  std::uint32_t reserved;
};
enum QpFlag : std::uint32_t {
  // What it sends to a group, or to a group address, does not come back to it. Without effect on services
  // that send to no group.
  qp_block_self_multicast = 1 << 0,
  // A frame that it receives has its check sequence behind it. For raw packet QPs and work queues.
  qp_scatter_fcs = 1 << 1,
};
// Slots are powers of two in number and size. `send_ring` is empty (length 0) if no WRs were asked for. A QP
// of type IBV_QPT_XRC_RECV has no rings, indices and doorbell: nothing is posted to it.
struct CreateQpReply {
  ArenaRange send_ring;
  ArenaRange receive_ring;
  ArenaRange indices;  // QueuePairIndices
  std::uint32_t handle;
  std::uint32_t qpn;
  std::uint32_t doorbell;
  std::uint32_t send_slots;
  std::uint32_t send_slot_size;  // bytes
  std::uint32_t receive_slots;
  std::uint32_t receive_slot_size;  // bytes
  std::uint32_t max_send_sge;
  std::uint32_t max_receive_sge;
  std::uint32_t max_inline_data;
  // What ibv_query_ece returns until the program sets other options.
  std::uint32_t ece_vendor_id;
  std::uint32_t ece_options;
};

// ibv_global_route and ibv_ah_attr.
struct AddressVector {
  std::uint8_t destination_gid[16];
  std::uint32_t flow_label;
  std::uint8_t source_gid_index;
  std::uint8_t hop_limit;
  std::uint8_t traffic_class;
  std::uint8_t service_level;
  std::uint8_t is_global;
  std::uint8_t port;
  std::uint8_t static_rate;
  std::uint8_t source_path_bits;
  std::uint16_t destination_lid;  // on InfiniBand; else it has no meaning
  std::uint16_t reserved;
};

// The path is resolved when the handle is made, from the GID table and the addresses of that moment.
struct CreateAhRequest {
  AddressVector path;
  std::uint32_t pd;
  std::uint32_t reserved;
};
struct CreateAhReply {
  std::uint32_t handle;
  std::uint32_t number;  // for SendWqe::address_handle
};

// For QPs of type UD.
struct MulticastRequest {
  std::uint8_t group[16];  // a multicast GID
  std::uint32_t qp;        // handle
  std::uint32_t reserved;
};

// Members and values as in ibv_qp_attr.
struct QpAttributes {
  std::uint32_t state;
  std::uint32_t current_state;
  std::uint32_t path_mtu;  // ibv_mtu value
  std::uint32_t path_migration_state;
  std::uint32_t qkey;
  std::uint32_t receive_psn;
  std::uint32_t send_psn;
  std::uint32_t destination_qpn;
  std::uint32_t access_flags;
  AddressVector path;
  AddressVector alternate_path;
  std::uint16_t pkey_index;
  std::uint16_t alternate_pkey_index;
  std::uint8_t enable_sqd_notify;
  std::uint8_t sq_draining;
  std::uint8_t max_rd_atomic;
  std::uint8_t max_dest_rd_atomic;
  std::uint8_t min_rnr_timer;
  std::uint8_t port;
  std::uint8_t timeout;
  std::uint8_t retry_count;
  std::uint8_t rnr_retry;
  std::uint8_t alternate_port;
  std::uint8_t alternate_timeout;
  std::uint8_t reserved;
  std::uint32_t rate_limit;
};
inline constexpr std::uint32_t kMaxRdAtomic = 16;  // of max_rd_atomic and max_dest_rd_atomic

// modify_qp_unanswered is for what the device refuses only if the QP has left its state by itself. It is in
// error then, and stays there: posted requests are flushed, and the next modify_qp is refused.
struct ModifyQpRequest {
  std::uint32_t handle;
  std::uint32_t mask;  // ibv_qp_attr_mask
  QpAttributes attributes;
};
struct QueryQpReply {
  QpAttributes attributes;
  std::uint32_t max_send_wr;
  std::uint32_t max_receive_wr;
  std::uint32_t max_send_sge;
  std::uint32_t max_receive_sge;
  std::uint32_t max_inline_data;
  std::uint32_t signal_all;
};

// Options of enhanced connection establishment (ibv_set_ece(3)) under the device's vendor_id.
inline constexpr std::uint32_t kEceSelectiveAcknowledgement = 1 << 0;  // docs/selective-acks.md
struct SetEceRequest {
  std::uint32_t handle;
  std::uint32_t vendor_id;
  std::uint32_t options;
};
struct QueryEceReply {
  std::uint32_t vendor_id;
  std::uint32_t options;
};

struct LimitRateRequest {
  std::uint32_t handle;
  std::uint32_t rate_kbps;  // 0: no limit
  std::uint32_t burst_bytes;
};

struct CreateSrqRequest {
  std::uint64_t user_handle;  // the ibv_srq's address, which asynchronous events carry
  std::uint32_t pd;
  std::uint32_t max_wr;
  std::uint32_t max_sge;
  std::uint32_t reserved;
};
// `slots` and `posted` (32-bit words) are `slot_count` long, a power of two; so is `slot_size`.
struct CreateSrqReply {
  ArenaRange slots;
  ArenaRange posted;
  ArenaRange indices;  // SharedReceiveIndices
  std::uint32_t handle;
  std::uint32_t number;
  std::uint32_t slot_count;
  std::uint32_t slot_size;  // bytes
  std::uint32_t max_wr;
  std::uint32_t max_sge;
};
struct ModifySrqRequest {
  std::uint32_t handle;
  std::uint32_t mask;  // ibv_srq_attr_mask
  std::uint32_t max_wr;
  std::uint32_t limit;
};
// With a new `slot_count`: slots have kept their numbers and contents, and the ring its indices; the old
// ranges are the device's again; no thread may post meanwhile. Without one the ranges are empty.
struct ModifySrqReply {
  ArenaRange slots;
  ArenaRange posted;
  std::uint32_t slot_count;
  std::uint32_t max_wr;
};
struct QuerySrqReply {
  std::uint32_t max_wr;
  std::uint32_t max_sge;
  std::uint32_t limit;  // 0: no event is armed
  std::uint32_t reserved;
};

// Extended reliable connections (IBTA annex A14). All processes that open a domain by the same file on one
// device share it. Descriptor sent: the file, or none for a domain that nobody else can open. Replies with
// HandleReply: EAGAIN if the domain does not exist and xrcd_create is not set, EINVAL if it exists and
// xrcd_exclusive is set.
enum XrcdFlag : std::uint32_t {
  xrcd_create = 1 << 0,
  xrcd_exclusive = 1 << 1,
};
struct OpenXrcdRequest {
  std::uint32_t flags;  // XrcdFlag values
  std::uint32_t reserved;
};
// An SRQ that XRC requests name by the number in the reply. Replies with CreateSrqReply.
struct CreateXrcSrqRequest {
  CreateSrqRequest queue;
  std::uint32_t xrcd;  // handle
  std::uint32_t cq;    // handle: where its WQEs complete
};
// Opens a QP of type IBV_QPT_XRC_RECV that exists in the same domain. The QP lives until all contexts that
// have it open have destroyed it; each of them gets its asynchronous events. Replies with HandleReply.
struct OpenQpRequest {
  std::uint64_t user_handle;  // the ibv_qp's address, which asynchronous events carry
  std::uint32_t xrcd;         // handle
  std::uint32_t qpn;
  std::uint32_t type;  // ibv_qp_type
  std::uint32_t reserved;
};

}  // namespace urnic::abi
