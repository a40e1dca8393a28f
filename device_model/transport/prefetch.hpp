// Asks the processor to load an object into its cache, without waiting for it.
#pragma once

#include <cstddef>

namespace urnic::transport {

inline void prefetch_bytes(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const auto* at = static_cast<const std::byte*>(begin);
  for (std::size_t offset = 0; offset < bytes; offset += kLine) __builtin_prefetch(at + offset, 1);
}

template <class T>
void prefetch_object(const T& object) {
  prefetch_bytes(&object, sizeof object);
}

}  // namespace urnic::transport
