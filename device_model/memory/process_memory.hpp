// The memory of one application process, reached across address spaces (DESIGN: two ways, chosen when the
// process introduces itself): process_vm_readv/writev where the kernel allows it, else the process's own
// /proc/self/mem.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/memory_access.hpp"

namespace urnic::memory {

// One contiguous piece of a batch: `local` bytes here, `address` there.
struct Transfer {
  std::uint64_t address = 0;
  std::span<std::byte> local;
  bool failed = false;  // set by read and write
};

class WaitingMemory;

// How a process's memory is reached; every process memory is one of these.
class ApplicationMemory : public transport::AddressSpace {
 public:
  ApplicationMemory() = default;
  ApplicationMemory(const ApplicationMemory&) = delete;
  ApplicationMemory& operator=(const ApplicationMemory&) = delete;
  virtual ~ApplicationMemory() = default;
  // Reads (writes) every transfer of the batch, in order, in as few system calls as the way allows. A
  // transfer that cannot be done whole is marked failed and does not keep the others from being tried. No
  // allocation.
  virtual void read(std::span<Transfer> batch) = 0;
  virtual void write(std::span<Transfer> batch) = 0;
  // False once the process is gone, by its end or by exec, so that a transfer may have failed for that
  // reason. May cost a system call: to be asked after a failure, not before each batch.
  virtual bool owner_lives() { return true; }
  // Whether an access that the process itself could not make fails. Where it does not, memory must be looked
  // at when it is registered, and cannot be registered before it is there.
  virtual bool heeds_page_protection() const { return true; }
  // Whether only the address space may be reached that the process has now, even if a copy costs more: from
  // before it calls exec until it is known that it did so in vain.
  virtual void keep_to_address_space([[maybe_unused]] bool keep) {}
  // The way, for status displays and logs.
  virtual const char* way() const = 0;
  // Memory that may keep whoever copies from or to it waiting; null for all other memory. Whoever must not
  // wait copies by way of what this returns.
  WaitingMemory* waiting() const { return waiting_; }
  // The process whose memory it is; 0 if that has no number here, or if it is no process's.
  pid_t owner() const { return owner_; }
  void set_owner(pid_t owner) { owner_ = owner; }

 protected:
  explicit ApplicationMemory(WaitingMemory& waiting) : waiting_(&waiting) {}

 private:
  pid_t owner_ = 0;
  WaitingMemory* waiting_ = nullptr;
};

// Chooses the way for a process that introduced itself with its pidfd and its /proc/self/mem; `pid` is its
// number as this process sees it (0 if it lives in a PID namespace that hides it). The number is used only if
// both descriptors mean it. Tries a way without touching the process's data; returns null and one line with
// what happened and a cure in `problem` if none works. `mem` stays the caller's then: it may be one that
// blocks whoever closes it.
std::unique_ptr<ApplicationMemory> open_process_memory(pid_t pid, Descriptor&& pidfd, Descriptor&& mem,
                                                       std::string& problem);

}  // namespace urnic::memory
