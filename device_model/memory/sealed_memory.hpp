// Memory in a file whose size nobody can change any more: a program that shrank it could end by SIGBUS
// whoever maps it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "device_model/memory/descriptor.hpp"

namespace urnic::memory {

// `size` bytes of zeros; `name` is for /proc/PID/maps. Owns nothing, with errno, where the kernel refuses.
inline Descriptor make_sealed_memory(const char* name, std::uint64_t size) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ftruncate(file.get(), static_cast<off_t>(size)) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return {};
  }
  return file;
}

}  // namespace urnic::memory
