// Memory that a program shares: of a file in memory (MAP_SHARED) or of a System V segment. This process has
// mapped it, too. Reaching it takes no system call. It stays what it was at registration when the program
// unmaps the range, maps something else there or changes its rights, as the pages do that a NIC has pinned.
//
// A region may begin before that memory and end behind it; what lies there is reached another way.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/memory/process_memory.hpp"
#include "device_model/memory/shared_mapping.hpp"

namespace urnic::memory {

// The bytes of a file or segment that are at a program's address.
struct MappedRange {
  std::uint64_t offset = 0;   // in the file or segment
  std::uint64_t address = 0;  // in the program
  std::uint64_t length = 0;
};

class MappedMemory final : public ApplicationMemory {
 public:
  // A process can have some 65,000 mappings (vm.max_map_count), and needs page tables for each. A gibibyte
  // holds the packet buffers of a DPDK program.
  static constexpr std::uint32_t kMost = 16 * 1024;
  static constexpr std::uint64_t kMostBytes = 1 << 30;

  // `file` is as for map_file. Offset and address have the same place in a page. `otherwise` reaches the
  // program's memory another way and outlives the result: for what is beside the range, and for all of it
  // when the file has lost pages. Null if the memory cannot be mapped, or if there are kMost already. One
  // thread at a time, as it takes over SIGBUS.
  static std::unique_ptr<MappedMemory> map(int file, const MappedRange& range, bool writable,
                                           ApplicationMemory& otherwise);
  // The same of a System V segment.
  static std::unique_ptr<MappedMemory> map(const Segment& segment, const MappedRange& range, bool writable,
                                           ApplicationMemory& otherwise);
  ~MappedMemory() override;

  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  const std::byte* in_place(std::uint64_t address, std::uint32_t length) override;
  std::uint64_t* word_in_place(std::uint64_t address) override;
  bool owner_lives() override { return otherwise_.owner_lives(); }
  const char* way() const override { return "mapped"; }

  // How much was moved so far, in bytes; an access counts as a page at least.
  std::uint64_t moved() const { return moved_; }

  // From here on a bus error in such memory, or in FilePages, ends no process. One thread at a time.
  static void watch_bus_errors();

  // Of this process.
  static std::uint32_t count() { return count_.load(std::memory_order_relaxed); }

 private:
  // What the mapping allows, beside reading.
  struct Rights {
    bool writable = false;
    bool lasting = false;  // no page can be lost
  };
  MappedMemory(const SharedMapping& mapping, std::uint64_t address, Rights rights,
               ApplicationMemory& otherwise);

  static bool may_map(const MappedRange& range);

  class Access;
  enum class Way : std::uint8_t { read, write };
  static void on_bus_error(int signal, siginfo_t* info, void* context);
  std::byte* place_of(std::uint64_t address, std::size_t length) const;
  void copy(std::span<Transfer> batch, Way way);
  bool copy_here(const Transfer& transfer, Way way);
  void copy_beside(Transfer& transfer, Way way);
  void copy_otherwise(Transfer& transfer, Way way);
  void count_access(std::size_t length);
  bool replace_pages(const std::byte* around);

  static inline std::atomic<std::uint32_t> count_{0};
  static thread_local MappedMemory* accessed_;

  const SharedMapping mapping_;
  const std::span<std::byte> bytes_ = mapping_.bytes;  // those of the range
  const std::uint64_t address_;                        // of the first one, in the program
  const Rights rights_;
  ApplicationMemory& otherwise_;
  std::uint64_t moved_ = 0;
  std::atomic<bool> lost_{false};  // pages of the file: the mapping has other ones now
};

}  // namespace urnic::memory
