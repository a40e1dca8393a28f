// Bodies of the control protocol (control.hpp) about memory that is not simply registered, and about sharing
// it with other processes.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::abi {

// allocate_null_mr takes the PD's handle and answers with RegisterMrReply; only the lkey is of use.

// One range of ibv_advise_mr; `advice` as ibv_advise_mr_advice.
struct AdviseMrRequest {
  std::uint64_t address;  // as the key's users give it
  std::uint64_t length;
  std::uint32_t pd;
  std::uint32_t lkey;
  std::uint32_t advice;
  std::uint32_t reserved;
};
// Where the range lies in the process that registered it, and whether that is the sender (1 or 0).
struct AdviseMrReply {
  std::uint64_t address;
  std::uint32_t is_senders;
  std::uint32_t reserved;
};

// Device memory. Its arenas have numbers of their own among those of the context.
struct AllocateDmRequest {
  std::uint64_t length;
  std::uint32_t log_alignment;  // of its first byte's address in the device
  std::uint32_t reserved;
};
struct DmReply {
  ArenaRange memory;  // at least `length` bytes
  std::uint64_t length;
  std::uint32_t handle;
  std::uint32_t reserved;
};
// Replies with RegisterMrReply.
struct RegisterDmMrRequest {
  std::uint64_t offset;  // from the beginning of the device memory
  std::uint64_t length;
  std::uint32_t pd;
  std::uint32_t dm;
  std::uint32_t access;
  std::uint32_t reserved;
};

// Descriptor sent: the dma-buf. Replies with RegisterMrReply.
struct RegisterDmaBufMrRequest {
  std::uint64_t offset;  // in the buffer
  std::uint64_t length;
  std::uint64_t iova;
  std::uint32_t pd;
  std::uint32_t access;
};

// Importing a device: who has a connection's descriptor, in whatever process, asks on it for the context's
// token, in a message that needs no reply so that nobody takes another one's. Descriptor sent: a socket, to
// which the device sends a ContextToken. With that he opens a context of his own, on a connection of his own,
// that shares the other's protection domains, regions, windows and device memory. Descriptors and reply as of
// open_context.
struct OpenSharedContextRequest {
  OpenContextRequest open;
  ContextToken token;
};
// async_channel, for such a context only: replies with Empty and the read end of the asynchronous events'
// pipe.

// import_pd takes the handle of a protection domain that is shared, and replies with it; import_mr that of a
// region.
struct ImportMrReply {
  std::uint64_t length;
  std::uint32_t lkey;
  std::uint32_t rkey;
};

}  // namespace urnic::abi
