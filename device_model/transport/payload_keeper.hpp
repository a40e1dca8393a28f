// A host's way to keep a payload in place for longer than a batch, so that held packets need not be copied.
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

  // Keeps the bytes of `payload` in place, unchanged, until `release`. Empty if it cannot: they are not in
  // the host's own memory, or too much is kept already.
  virtual std::optional<Place> keep(std::span<const std::byte> payload) = 0;
  // Ends one `keep`.
  virtual void release(Place place) = 0;

 protected:
  ~PayloadKeeper() = default;
};

}  // namespace urnic::transport
