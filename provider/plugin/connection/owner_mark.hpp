// Whether the running process opened a context or is a forked child. Asked for each completion that carries
// data, so it makes no system call.
#pragma once

#include <sys/types.h>

namespace urnic::provider {

// A byte that the kernel clears in children (MADV_WIPEONFORK), also in those made without fork(). After vfork
// the byte stays set, which is right: the child shares the memory.
class OwnerMark {
 public:
  OwnerMark() = default;
  ~OwnerMark();
  OwnerMark(const OwnerMark&) = delete;
  OwnerMark& operator=(const OwnerMark&) = delete;

  // Makes the running process the owner.
  void set();
  // Whether the running process is the owner.
  bool is_here() const { return mark_ != nullptr ? *mark_ != 0 : is_same_process(); }

 private:
  // For kernels before 4.14, which cannot clear the byte: compares process numbers.
  bool is_same_process() const;

  char* mark_ = nullptr;
  pid_t process_ = 0;
};

}  // namespace urnic::provider
