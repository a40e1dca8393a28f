// The rest of a long packet, as a program writes it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control::test {

// Owns nothing if the kernel refuses.
inline memory::Descriptor file_in_memory(std::span<const std::byte> bytes) {
  memory::Descriptor file(memfd_create("urnic-test", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(bytes.size());
  return write(file.get(), bytes.data(), bytes.size()) == size ? std::move(file) : memory::Descriptor();
}

}  // namespace urnic::control::test
