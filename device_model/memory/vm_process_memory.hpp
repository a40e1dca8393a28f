// Way (a): process_vm_readv and process_vm_writev, which name the process by its number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <utility>

#include "device_model/memory/mem_file_memory.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

class VmProcessMemory final : public ApplicationMemory {
 public:
  // `mem` is the process's own /proc/PID/mem: the witness that `pid` still is the process that introduced
  // itself.
  VmProcessMemory(pid_t pid, Descriptor mem) : pid_(pid), mem_(std::move(mem)) {}

  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  bool owner_lives() override;
  void keep_to_address_space(bool keep) override { only_mem_file_ = keep; }
  const char* way() const override { return "process_vm_readv"; }

 private:
  using MemFileWay = void (MemFileMemory::*)(std::span<Transfer>);

  static constexpr std::size_t kMovedAtOnce = 16 * 1024;

  bool process_is_there();
  void go_on(std::span<Transfer> rest, MemFileWay mem_file_way);
  void write_as_is(std::span<Transfer> batch);
  void write_moved(Transfer& transfer);

  pid_t pid_;
  MemFileMemory mem_;
  bool gone_ = false;
  bool number_works_ = true;
  bool only_mem_file_ = false;
  std::int64_t checked_at_ = -1;  // tick of the coarse clock
};

}  // namespace urnic::memory
