// Where a host lets payloads lie longer than for a batch, so that a packet that waits for its turn need not
// be copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::transport {

class PayloadKeeper {
 public:
  // The place of a payload, to be given to `release`.
  using Place = std::uint32_t;

  // From now on the bytes of `payload` stay as and where they are. Nothing if they cannot: they lie
  // elsewhere, or too much is kept already.
  virtual std::optional<Place> keep(std::span<const std::byte> payload) = 0;
  // Ends one `keep`.
  virtual void release(Place place) = 0;

 protected:
  ~PayloadKeeper() = default;
};

}  // namespace urnic::transport
