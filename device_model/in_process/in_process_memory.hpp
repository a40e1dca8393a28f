// Way (c): memory of this process itself, for tests and simulators. Only registered ranges are reached, so a
// wrong address fails as it would in another process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

class InProcessMemory final : public ApplicationMemory {
 public:
  // The bytes must stay valid until they are removed or this object is destroyed. Ranges may overlap; a
  // transfer must lie within one of them. Writes to read_only ranges fail.
  void add_range(std::span<std::byte> bytes, bool read_only = false);
  // Removes the range that begins at bytes.data().
  void remove_range(std::span<std::byte> bytes);

  // Plays the end of the process: every later transfer fails.
  void end_owner();

  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  bool owner_lives() override { return !ended_; }
  const char* way() const override { return "in-process"; }

 private:
  struct Range {
    std::span<std::byte> bytes;
    bool read_only = false;
  };
  std::byte* reach(const Transfer& transfer, bool to_write) const;

  std::vector<Range> ranges_;
  bool ended_ = false;
};

}  // namespace urnic::memory
