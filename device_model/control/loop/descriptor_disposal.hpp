// Closes programs' descriptors, and sockets that may hold such descriptors, on threads of its own: a program
// can make close(2) take any time, with SO_LINGER and unsent data on a socket, or with a file of a FUSE
// daemon.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <vector>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class DescriptorDisposal {
 public:
  // Threads start on demand and end when idle. One program can block `kThreadsPerSender` of them, all
  // programs together `kThreads`; further descriptors stay open until a thread is free.
  static constexpr std::size_t kThreadsPerSender = 4;
  static constexpr std::size_t kThreads = 64;
  // A program with this many unclosed descriptors is refused if nothing was closed for kPatience; with kMost,
  // always.
  static constexpr std::size_t kMany = 64;
  static constexpr std::size_t kMost = 4096;
  static constexpr std::chrono::milliseconds kPatience{1000};

  DescriptorDisposal();
  // Does not wait: remaining descriptors are closed soon, or when the process ends.
  ~DescriptorDisposal();
  DescriptorDisposal(const DescriptorDisposal&) = delete;
  DescriptorDisposal& operator=(const DescriptorDisposal&) = delete;

  // Never blocks. `sender` is the process that sent the descriptor (0: unknown); the limits above are per
  // sender.
  void close(memory::Descriptor descriptor, pid_t sender);
  // Closes all; the vector is empty then.
  void close(std::vector<memory::Descriptor>& descriptors, pid_t sender);

  // Whether to take no more from `sender`, because its descriptors do not get closed.
  bool refuses(pid_t sender) const;
  // How many descriptors are not closed yet.
  std::size_t open() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive this object
};

}  // namespace urnic::control
