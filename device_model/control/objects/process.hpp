// A program's process as it introduced itself on a connection.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/control/objects/copier_parent.hpp"
#include "device_model/memory/copier_memory.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::control {

class AddressMap;

class Process {
 public:
  // `pidfd` and `mem` are what the program sent and are checked here: throws std::system_error with EINVAL
  // for a descriptor that is something else. Memory that cannot be reached is no error yet; registering
  // fails then. What turns out to be something else stays the caller's: closing it may block.
  Process(memory::Descriptor&& pidfd, memory::Descriptor&& mem, std::string program);

  pid_t pid() const { return pid_; }  // as this process sees it; 0 if a PID namespace hides it
  const std::string& program() const { return program_; }
  // Null if the machine allows no way to it; `memory_problem` says why.
  memory::ApplicationMemory* memory() const { return memory_.get(); }
  const std::string& memory_problem() const { return memory_problem_; }

  // The process has all of [address, address + length) mapped, readable and, if asked, writable. What
  // registration on real hardware learns by pinning the pages. Pages are not touched, so sparse memory stays
  // sparse. Empty: a portion of the work is done; to be called again with the same arguments. `under_way`,
  // empty at first, is what has been found so far.
  struct Mapped {
    bool all = false;
    bool may_wait = false;  // its pages may take any time to come
  };
  std::optional<Mapped> look_at(std::uint64_t address, std::uint64_t length, bool writable,
                                std::unique_ptr<AddressMap>& under_way) const;

  // The same memory by way of a copier, which is made at the first call; null if there can be none. After
  // `end_copier`, a new one.
  memory::CopierMemory* waiting_memory(CopierParent& parent);
  bool has_copier() const { return copier_ != nullptr; }
  // The copier is killed; what refers to its memory goes on to exist, and fails.
  void end_copier();
  // For how long the copier has been waiting for the memory.
  std::optional<std::chrono::nanoseconds> waits_for_memory() const;

 private:
  Mapped probe(std::uint64_t address, std::uint64_t length) const;

  memory::Descriptor pidfd_;
  memory::Descriptor mem_;
  pid_t pid_ = 0;
  std::string program_;
  std::unique_ptr<memory::ApplicationMemory> memory_;
  std::string memory_problem_;
  std::vector<std::unique_ptr<memory::CopierMemory>> waiting_memories_;  // the last may have a copier
  std::unique_ptr<Copier> copier_;
};

// Whether a pidfd or a /proc/PID/mem is of this process or of one of its threads. A mem file of another /proc
// than ours has no number here; only who may trace this process can have opened it.
bool is_of_own_process(int pidfd, int mem);

// The part of a name of fixed size before its NUL, with everything unprintable replaced: it goes into logs
// and status displays.
std::string printable_name(const char* name, std::size_t size);

}  // namespace urnic::control
