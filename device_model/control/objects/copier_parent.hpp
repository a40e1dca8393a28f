// Copiers (memory/copier.hpp) are processes, and the device process, with its threads and its restricted
// system calls, makes none. Their parent does: a process that branches off before the first thread starts,
// has nothing but one socket, and forks on request.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "device_model/memory/copier_memory.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class CopierParent;

// One copier. Killed when this goes, whatever it waits for.
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

// The device process's end.
class CopierParent {
 public:
  // At most so many at a time, those included that have been killed and do not end.
  static constexpr std::uint32_t kMost = 256;

  // Branches off. Before the first thread starts. Throws std::system_error.
  static std::unique_ptr<CopierParent> start();
  // Ends it, and it all of its copiers.
  ~CopierParent() = default;
  CopierParent(const CopierParent&) = delete;
  CopierParent& operator=(const CopierParent&) = delete;

  // A copier for the process that introduced itself with `pidfd` and `mem` (memory/process_memory.hpp). Null
  // if there are too many, or the parent is gone.
  std::unique_ptr<Copier> make(pid_t pid, int pidfd, int mem, const memory::CopierDescriptors& descriptors);

 private:
  friend class Copier;
  explicit CopierParent(memory::Descriptor socket) : socket_(std::move(socket)) {}
  void end(std::uint32_t number);

  memory::Descriptor socket_;
};

}  // namespace urnic::control
