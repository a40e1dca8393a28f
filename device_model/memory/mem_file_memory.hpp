// Way (b): the process's own /proc/self/mem, which it handed over.
//
// The descriptor names an address space, not a number: it works across PID namespaces, and after an exec or
// the process's end it reaches nothing. It bypasses page protection (a read-only page is written), so rights
// must have been checked when the region was registered.
#pragma once

#include <sys/types.h>

#include <utility>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

// True if `descriptor` is a /proc/PID/mem, open for reading and writing; does not block. A read from anything
// else that a hostile process hands over (a pipe, a FUSE file) might. `owner` is the number here of the
// process that handed it over; its mounts count, too (0: it has none). Where neither it nor this process is
// known to have mounted the file's /proc, as between containers, the file's position tells:
// abi::kMemFilePosition.
bool is_mem_file(int descriptor, pid_t owner = 0);

// The number of the process that a /proc/PID/mem belongs to; 0 if it was opened in another /proc than ours,
// which may be another PID namespace's.
pid_t mem_file_number(int mem_file);

// False once the address space behind a /proc/PID/mem is gone: its process has ended or called exec.
bool address_space_lives(int mem_file);

class MemFileMemory final : public ApplicationMemory {
 public:
  // `mem` must be a mem file (is_mem_file).
  explicit MemFileMemory(Descriptor mem) : mem_(std::move(mem)) {}
  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  bool owner_lives() override { return address_space_lives(mem_.get()); }
  bool heeds_page_protection() const override { return false; }
  const char* way() const override { return "/proc/PID/mem"; }

 private:
  Descriptor mem_;
};

}  // namespace urnic::memory
