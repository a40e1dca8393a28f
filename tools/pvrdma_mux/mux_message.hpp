// The messages between QEMU's pvrdma device and its mux, over a UNIX stream socket (QEMU's
// contrib/rdmacm-mux). QEMU asks and waits for the answer; the mux sends MADs that arrive whenever they do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "wire/identifiers.hpp"

namespace urnic::pvrdma_mux {

enum class MessageType : std::uint32_t { request = 0, response = 1 };

enum class Operation : std::uint32_t {
  register_gid = 0,    // `own` is the guest's from now on
  unregister_gid = 1,  // `own` is no longer the guest's
  mad = 2,             // from the guest, or for it
};

// Any other than ok makes QEMU report an error; it goes on.
enum class Status : std::uint32_t { ok = 0, invalid = 1, exists = 2, denied = 3, not_found = 4 };

// A management datagram with its address, as Linux's ib_umad has it (<rdma/ib_user_mad.h>, 64 bytes of
// header). Numbers behind `length` are in network byte order.
struct UserMad {
  std::uint32_t agent = 0;
  std::uint32_t status = 0;
  std::uint32_t timeout_ms = 0;
  std::uint32_t retries = 0;
  std::uint32_t length = 0;
  std::uint32_t peer_qpn = 0;
  std::uint32_t qkey = 0;
  std::uint16_t lid = 0;
  std::uint8_t service_level = 0;
  std::uint8_t path_bits = 0;
  std::uint8_t grh_present = 0;
  std::uint8_t gid_index = 0;  // of the own GID
  std::uint8_t hop_limit = 0;
  std::uint8_t traffic_class = 0;
  wire::Gid peer;
  std::uint32_t flow_label = 0;
  std::uint16_t pkey_index = 0;
  std::array<std::uint8_t, 6> reserved{};
  std::array<std::byte, 256> mad{};
};
static_assert(offsetof(UserMad, mad) == 64 && sizeof(UserMad) == 320);

struct MuxMessage {
  MessageType type{};
  Operation operation{};
  wire::Gid own;  // the guest's
  Status status{};
  std::uint32_t padding = 0;
  std::uint32_t length = 0;  // bytes of `user_mad.mad` in use
  UserMad user_mad;
  std::uint32_t padding_behind = 0;
};
static_assert(offsetof(MuxMessage, own) == 8 && offsetof(MuxMessage, length) == 32);
static_assert(offsetof(MuxMessage, user_mad) == 36 && sizeof(MuxMessage) == 360);
static_assert(std::is_trivially_copyable_v<MuxMessage>);

}  // namespace urnic::pvrdma_mux
