// A buffer that another driver of the kernel exports (a dma-buf), mapped into this process. Addresses are
// those of the mapping.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

// True if `descriptor` is a dma-buf; does not block. Any other file that a hostile program hands over may
// change its size or block a process that maps it.
bool is_dma_buf(int descriptor);

class DmaBufMemory final : public ApplicationMemory {
 public:
  // Maps the pages of `length` bytes from `offset` on, which the buffer must have. Throws std::system_error
  // if the exporter does not let its buffer be mapped.
  DmaBufMemory(const Descriptor& buffer, std::uint64_t offset, std::uint64_t length, bool writable);
  ~DmaBufMemory() override;
  DmaBufMemory(const DmaBufMemory&) = delete;
  DmaBufMemory& operator=(const DmaBufMemory&) = delete;

  // Where the byte at `offset` is mapped.
  std::uint64_t address() const { return address_; }

  // If the exporter takes its pages away, an access fails and does not end this process.
  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  const char* way() const override { return "dma-buf"; }

 private:
  void* mapping_;
  std::size_t size_;
  std::uint64_t address_;
};

}  // namespace urnic::memory
