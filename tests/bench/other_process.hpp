// A child process with its own pages, to measure the ways into another process.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace urnic::bench {

inline std::byte* map_touched(std::size_t length, int kind) {
  void* region = mmap(nullptr, length, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  if (region == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  std::memset(region, 1, length);
  return static_cast<std::byte*>(region);
}

// Touched pages, which are never unmapped. Ends the program with a message if there is no memory.
inline std::byte* make_region(std::size_t length) { return map_touched(length, MAP_PRIVATE); }
// The same, but shared with processes that are forked later.
inline std::byte* make_shared_region(std::size_t length) { return map_touched(length, MAP_SHARED); }

// A sleeping process with its own pages at the address of `region`. It ends with this object or with its
// parent.
class OtherProcess {
 public:
  OtherProcess(std::byte* region, std::size_t length) {
    int ready[2];
    if (pipe(ready) != 0) std::exit(1);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::memset(region, 2, length);
      if (write(ready[1], "r", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ready[1]);
    char byte;
    if (pid_ < 0 || read(ready[0], &byte, 1) != 1) std::exit(1);
    close(ready[0]);
  }
  ~OtherProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace urnic::bench
