// Closes descriptors that programs have sent, and sockets that such descriptors may wait in, on threads that
// nobody waits for: close(2) takes as long as the program likes for a socket with SO_LINGER and unsent data,
// and for a file of a FUSE daemon.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class DescriptorDisposal {
 public:
  // Threads come when they are needed and go when they have nothing to do for a while. One program can keep
  // `per_sender` of them waiting, all programs together `all`; what is more stays open until one is free.
  static constexpr std::size_t kThreadsPerSender = 4;
  static constexpr std::size_t kThreads = 64;
  // A program is refused with this many descriptors that are not closed yet, if the oldest has been there for
  // kPatience, and with kMost in any case.
  static constexpr std::size_t kMany = 64;
  static constexpr std::size_t kMost = 4096;
  static constexpr std::chrono::milliseconds kPatience{1000};

  DescriptorDisposal();
  // Does not wait for descriptors that are not closed yet; they are closed soon, or when the process ends.
  ~DescriptorDisposal();
  DescriptorDisposal(const DescriptorDisposal&) = delete;
  DescriptorDisposal& operator=(const DescriptorDisposal&) = delete;

  // Never blocks. `sender` is the process that it came from (0: unknown); the limits above count
  // by it.
  void close(memory::Descriptor descriptor, pid_t sender);
  // All of them; the vector is empty then.
  void close(std::vector<memory::Descriptor>& descriptors, pid_t sender);

  // Whether nothing more should be taken from `sender`, whose descriptors do not get closed.
  bool refuses(pid_t sender) const;
  // How many descriptors are not closed yet.
  std::size_t open() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // which the threads have, too: they may outlive this object
};

}  // namespace urnic::control
