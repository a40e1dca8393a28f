// How the transport names application memory: keys that are checked at every packet, and the ranges that a
// successful check yields. The host alone knows what an address space is, and reads and writes it.
#pragma once

#include <compare>
#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::transport {

struct Lkey {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Lkey, Lkey) = default;
};

// A protection domain of the device (IBTA 10.2.3).
struct PdId {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(PdId, PdId) = default;
};

// Whose memory it is. Opaque here; implementations live in device_model/memory and in tests.
class AddressSpace {
 protected:
  ~AddressSpace() = default;
};

// Bytes of an application's memory, checked against a key. Valid until the host's current batch ends: the
// region behind it may be deregistered between two batches, so a range is never stored.
struct MemoryRange {
  AddressSpace* space = nullptr;
  std::uint64_t address = 0;  // in that address space
  std::uint32_t length = 0;
  bool owner_only = false;  // the region gives peers no right to its bytes, by itself or through a window
};

// What the access is for (IBTA 10.6.3).
enum class AccessRight : std::uint8_t { local_read, local_write, remote_read, remote_write, remote_atomic };

enum class KeyCheck : std::uint8_t {
  ok,
  unknown_key,
  wrong_pd,
  no_right,
  out_of_bounds,
  wrong_queue_pair,
  in_use
};

// What a bind (type 1 or 2 memory window) asks for (IBTA 10.6.7).
struct WindowBinding {
  wire::Rkey current;  // the window
  wire::Rkey next;     // its R_Key after the bind: the low 8 bits are the consumer's; 0 (type 1): unchanged
  Lkey region;
  std::uint64_t address = 0;
  std::uint64_t length = 0;  // 0 unbinds
  std::uint32_t access = 0;  // ibv_access_flags values
};

// The device's memory translation and protection table. A length of 0 is always within bounds and its key is
// not checked by callers (IBTA 9.7.4.1.5: a zero-length RDMA does not check the R_Key).
class MemoryKeys {
 public:
  virtual KeyCheck check_local(Lkey key, PdId pd, std::uint64_t address, std::uint32_t length,
                               AccessRight right, MemoryRange& range) const = 0;
  // `queue_pair` is the QP that the request arrived on: type 2 windows belong to one.
  virtual KeyCheck check_remote(wire::Rkey key, PdId pd, wire::Qpn queue_pair, std::uint64_t address,
                                std::uint32_t length, AccessRight right, MemoryRange& range) const = 0;
  // Local bind work request, and remote or local invalidation (IBTA 10.6.7, 9.4.1.1.3).
  virtual KeyCheck bind(const WindowBinding& binding, PdId pd, wire::Qpn queue_pair) = 0;
  virtual KeyCheck invalidate(wire::Rkey key, PdId pd, wire::Qpn queue_pair) = 0;

 protected:
  ~MemoryKeys() = default;
};

}  // namespace urnic::transport
