// The memory of one application process, reached across address spaces in one of two ways, chosen when the
// process introduces itself: process_vm_readv/writev where the kernel allows it, else the process's own
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

// One contiguous piece of a batch: `local` lies in this process, `address` in the other.
struct Transfer {
  std::uint64_t address = 0;
  std::span<std::byte> local;
  bool failed = false;  // set by read and write
};

class WaitingMemory;

// The interface to a region's memory. Each way to reach memory implements it.
class ApplicationMemory : public transport::AddressSpace {
 public:
  ApplicationMemory() = default;
  ApplicationMemory(const ApplicationMemory&) = delete;
  ApplicationMemory& operator=(const ApplicationMemory&) = delete;
  virtual ~ApplicationMemory() = default;
  // Reads (writes) every transfer of the batch, in order, in as few system calls as the way allows. A
  // transfer that cannot be done whole is marked failed; the others are still tried. No allocation.
  virtual void read(std::span<Transfer> batch) = 0;
  virtual void write(std::span<Transfer> batch) = 0;
  // The bytes themselves, where this process has them mapped and they cannot be lost: valid as long as the
  // region. Null: they are only read and written.
  virtual const std::byte* in_place(std::uint64_t /*address*/, std::uint32_t /*length*/) { return nullptr; }
  // The aligned word itself, as `in_place`, where it may be written: for the processor's own atomics.
  virtual std::uint64_t* word_in_place(std::uint64_t /*address*/) { return nullptr; }
  // False once the process has ended or called exec, which may be why a transfer failed. May cost a system
  // call: to be called after a failure, not before each batch.
  virtual bool owner_lives() { return true; }
  // True if an access fails that the process itself could not make. If false, a region's memory must be
  // present and checked when the region is registered.
  virtual bool heeds_page_protection() const { return true; }
  // `keep`: reach only the address space that the process has now, even if a copy costs more. Set before the
  // process calls exec; cleared when its exec has failed.
  virtual void keep_to_address_space([[maybe_unused]] bool keep) {}
  // The way's name, for status displays and logs. Static storage.
  virtual const char* way() const = 0;
  // For memory whose copy may block: itself, as WaitingMemory; a thread that must not block copies through
  // that. Null for all other memory.
  WaitingMemory* waiting() const { return waiting_; }
  // Number of the process whose memory it is; 0 if the process has no number here, or if the memory is no
  // process's.
  pid_t owner() const { return owner_; }
  void set_owner(pid_t owner) { owner_ = owner; }

 protected:
  explicit ApplicationMemory(WaitingMemory& waiting) : waiting_(&waiting) {}

 private:
  pid_t owner_ = 0;
  WaitingMemory* waiting_ = nullptr;
};

// Chooses the way for a process that introduced itself with its pidfd and its /proc/self/mem. `pid` is its
// number as this process sees it (0 if it lives in a PID namespace that hides it); the number is used only if
// both descriptors mean it. Tries a way without touching the process's data. If none works, returns null and
// sets `problem` to one line with what happened and a cure; `mem` stays the caller's then, because closing it
// may block.
std::unique_ptr<ApplicationMemory> open_process_memory(pid_t pid, Descriptor&& pidfd, Descriptor&& mem,
                                                       std::string& problem);

}  // namespace urnic::memory
