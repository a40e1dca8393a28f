// Way (c): memory of this very process, for tests and simulators. Only ranges that were registered are
// reached, so a wrong address fails as it would in another process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

class InProcessMemory final : public ApplicationMemory {
 public:
  // The bytes must stay valid until they are removed or this object goes. Ranges may overlap; a transfer
  // must lie within one of them. read_only ranges fail when they are written.
  void add_range(std::span<std::byte> bytes, bool read_only = false);
  // Removes the range that begins at bytes.data().
  void remove_range(std::span<std::byte> bytes);

  // As if the process had ended: nothing is reached any more.
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
