// Memory that a program names by an address. It may not be there: then a copy fails, as it does in the
// kernel.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace urnic::kernel {

class ProgramMemory {
 public:
  // `frame`: __builtin_frame_address(0) of a function that the program has called, and that outlives this.
  explicit ProgramMemory(const void* frame) : frame_(reinterpret_cast<uintptr_t>(frame)) {}

  // How many bytes from the first on could be copied.
  size_t read(void* to, const void* from, size_t size) const;
  // False: not all bytes could be copied.
  bool write(void* to, const void* from, size_t size) const;

 private:
  bool is_behind_frame(const void* place, size_t size) const;

  uintptr_t frame_;
};

}  // namespace urnic::kernel
