// The parent process of the copiers (memory/copier.hpp). The device process, with its threads and restricted
// system calls, cannot fork. This process is forked before the first thread starts, keeps only one socket,
// and forks copiers on request.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "device_model/memory/copier_memory.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class CopierParent;

// One copier process; the destructor kills it, whatever it waits for.
class Copier {
 public:
  Copier(CopierParent& parent, std::uint32_t number) : parent_(parent), number_(number) {}
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

 private:
  CopierParent& parent_;
  std::uint32_t number_;
};

// The device process's end of the socket.
class CopierParent {
 public:
  // Copiers at a time, including killed ones that have not ended.
  static constexpr std::uint32_t kMost = 256;

  // Forks the parent process. Call before the first thread starts. Throws std::system_error.
  static std::unique_ptr<CopierParent> start();
  // Ends the parent process, and that all its copiers.
  ~CopierParent() = default;
  CopierParent(const CopierParent&) = delete;
  CopierParent& operator=(const CopierParent&) = delete;

  // A copier for the process that sent `pidfd` and `mem` (memory/process_memory.hpp). Null if there are too
  // many, or the parent process is gone.
  std::unique_ptr<Copier> make(pid_t pid, int pidfd, int mem, const memory::CopierDescriptors& descriptors);

 private:
  friend class Copier;
  explicit CopierParent(memory::Descriptor socket) : socket_(std::move(socket)) {}
  void end(std::uint32_t number);

  memory::Descriptor socket_;
};

}  // namespace urnic::control
