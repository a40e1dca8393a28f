// The size of the kernel's pages, in bytes: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace urnic::memory {

inline std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace urnic::memory
