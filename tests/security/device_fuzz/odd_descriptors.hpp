// Descriptors of every kind that a program may hand over where the protocol wants another kind.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/security/device_fuzz/chance.hpp"
#include "tests/security/device_fuzz/connection.hpp"

namespace urnic::device_fuzz {

class OddDescriptors {
 public:
  // `device_process` is its pid; its pidfd and memory are handed over, too.
  OddDescriptors(Chance& chance, int device_process) : chance_(chance), device_process_(device_process) {}

  // A new descriptor of a random kind; its other ends are kept until `change_after`. /dev/null if this
  // machine does not have that kind.
  Descriptor make();
  // To be called once they have been sent: shrinks memory files, now and then closes the other ends.
  void change_after();

 private:
  int make_number();
  int make_pipe_end();
  int make_unix_socket();
  int make_lingering_socket();
  int make_memfd();
  int make_epoll();
  int make_process_file();
  int make_pidfd();
  void keep(int number) { other_ends_.emplace_back(number); }

  Chance& chance_;
  int device_process_;
  std::vector<Descriptor> other_ends_;
  std::vector<Descriptor> to_shrink_;
};

// Descriptors for open_context and join_context: a pidfd of this process, and its memory.
std::vector<Descriptor> own_identity();
// A new pipe: read end, write end.
std::vector<Descriptor> new_pipe();

}  // namespace urnic::device_fuzz
