// A program's process, from what the program sent on its connection.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device_model/control/objects/address_map.hpp"
#include "device_model/control/objects/copier_parent.hpp"
#include "device_model/control/objects/memory_sharing.hpp"
#include "device_model/memory/copier_memory.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::control {

class Process {
 public:
  // Checks `pidfd` and `mem`, which the program sent: throws std::system_error with EINVAL for a wrong
  // descriptor, and leaves it with the caller, because closing it may block. Memory that cannot be accessed
  // is no error here; registering it fails.
  Process(memory::Descriptor&& pidfd, memory::Descriptor&& mem, std::string program);

  pid_t pid() const { return pid_; }  // in this PID namespace; 0 if hidden
  const std::string& program() const { return program_; }
  // Null if the machine allows no access to it; `memory_problem` says why.
  memory::ApplicationMemory* memory() const { return memory_.get(); }
  const std::string& memory_problem() const { return memory_problem_; }

  // Whether the process has mapped all of [address, address + length) readable and, if asked, writable; real
  // hardware learns this by pinning the pages. Does not touch pages, so sparse memory stays sparse. Empty: a
  // portion of the work is done; call again with the same arguments. `under_way`, empty at first, holds the
  // progress.
  struct Mapped {
    bool all = false;
    bool may_wait = false;  // its pages may not answer for any time
    std::optional<AddressMap::FilePlace> shared_file = {};
    bool is_private_memory = false;  // AddressMap::is_private_memory
  };
  std::optional<Mapped> look_at(std::uint64_t address, std::uint64_t length, bool writable,
                                std::unique_ptr<AddressMap>& under_way) const;

  MemorySharing& sharing() { return sharing_; }

  // The same memory, accessed by a copier, which is made at the first call and after `end_copier`; null if no
  // copier can be made.
  memory::CopierMemory* waiting_memory(CopierParent& parent);
  bool has_copier() const { return copier_ != nullptr; }
  // Kills the copier; objects that refer to its memory stay, and their accesses fail.
  void end_copier();
  // How long the copier has been waiting for the memory.
  std::optional<std::chrono::nanoseconds> waits_for_memory() const;

 private:
  Mapped probe(std::uint64_t address, std::uint64_t length) const;

  memory::Descriptor pidfd_;
  memory::Descriptor mem_;
  pid_t pid_ = 0;
  std::string program_;
  std::unique_ptr<memory::ApplicationMemory> memory_;
  std::string memory_problem_;
  std::vector<std::unique_ptr<memory::CopierMemory>> waiting_memories_;  // the last one may have a copier
  std::unique_ptr<Copier> copier_;
  MemorySharing sharing_;
};

// Whether a pidfd or /proc/PID/mem file refers to this process or one of its threads. A mem file from another
// /proc mount has no known PID; only a process that may trace this one can have opened it.
bool is_of_own_process(int pidfd, int mem);

// The part of a fixed-size name before its NUL, unprintable characters replaced: for logs and status
// displays.
std::string printable_name(const char* name, std::size_t size);

}  // namespace urnic::control
