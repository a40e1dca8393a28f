// Whether the process that runs is the one that opened a context, or a forked child of it. Asked for each
// completion that carries data, so it costs no system call.
#pragma once

#include <sys/types.h>

namespace urnic::provider {

// A byte that the kernel clears in children (MADV_WIPEONFORK), however they are made. A child that shares the
// memory, as after vfork, finds it set, and rightly so.
class OwnerMark {
 public:
  OwnerMark() = default;
  ~OwnerMark();
  OwnerMark(const OwnerMark&) = delete;
  OwnerMark& operator=(const OwnerMark&) = delete;

  // Makes the running process the owner.
  void set();
  bool is_here() const { return mark_ != nullptr ? *mark_ != 0 : is_same_process(); }

 private:
  // Kernels before 4.14 clear nothing: there the process's number is asked for.
  bool is_same_process() const;

  char* mark_ = nullptr;
  pid_t process_ = 0;
};

}  // namespace urnic::provider
