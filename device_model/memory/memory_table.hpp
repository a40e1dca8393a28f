// The device's translation and protection table: regions and windows by key (IBTA 10.6). One per device,
// touched by the engine thread only; the control thread's changes are installed between two batches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/memory/number_seed.hpp"
#include "device_model/memory/process_memory.hpp"
#include "device_model/transport/memory_access.hpp"

namespace urnic::memory {

// ibv_access_flags values that the table knows.
enum AccessFlag : std::uint32_t {
  access_local_write = 1,
  access_remote_write = 2,
  access_remote_read = 4,
  access_remote_atomic = 8,
  access_window_bind = 16,
  access_zero_based = 32,
  // No flag of ibv_access_flags. The device itself must write what is received here, not the program, because
  // the memory is not the program's own, or may not be present.
  access_placed_by_device = 1u << 31,
  // No flag of ibv_access_flags either. The L_Key is valid in all protection domains; the R_Key only in its
  // own.
  access_in_all_domains = 1u << 30,
};

struct RegionSpec {
  ApplicationMemory* memory = nullptr;  // must outlive the region
  transport::PdId pd;
  std::uint64_t address = 0;  // in the process
  std::uint64_t iova = 0;     // its first address for users of the key
  std::uint64_t length = 0;
  std::uint32_t access = 0;  // AccessFlag values
};

class MemoryTable final : public transport::MemoryKeys {
 public:
  // Holds at most `max_entries` regions and windows (and at most 2^24 - 1: a key is an index and 8 bits that
  // change when the index is used again). Allocates memory for them in chunks, when needed. `seed` gives the
  // first index and the first 8 bits of each.
  explicit MemoryTable(std::uint32_t max_entries, NumberSeed seed = {});
  ~MemoryTable();

  // Returns the Lkey, which is also the R_Key; empty when the table is full. Keys of removed entries are not
  // given out again soon.
  std::optional<transport::Lkey> add_region(const RegionSpec& spec);
  // False (nothing changed) while a window is bound to the region, or if there is no such region. With other
  // memory or addresses the region gets a new key, and the old one is invalid. If only rights or the domain
  // change, the key stays, as in Linux's drivers: peers go on using the key that they were told.
  bool change_region(transport::Lkey key, const RegionSpec& spec, transport::Lkey& new_key);
  // False while a window is bound to the region, or if there is no such region.
  bool remove_region(transport::Lkey key);

  // `type` 1 or 2 (ibv_mw_type), else throws std::invalid_argument; unbound at first.
  std::optional<wire::Rkey> add_window(transport::PdId pd, std::uint32_t type);
  // `key` is any R_Key that the window has had: binds, which the caller does not see, change the low 8 bits.
  // A bound window is unbound first. A key of no window is ignored.
  void remove_window(wire::Rkey key);
  // Unbinds type 2 windows that are bound to a QP which is being destroyed, since its number may come back.
  // Looks at no more than `most` windows and returns at how many: if fewer than `most`, none is left.
  std::uint32_t release_queue_pair(wire::Qpn queue_pair, std::uint32_t most = kAllWindows);
  static constexpr std::uint32_t kAllWindows = ~std::uint32_t{0};

  transport::KeyCheck check_local(transport::Lkey key, transport::PdId pd, std::uint64_t address,
                                  std::uint32_t length, transport::AccessRight right,
                                  transport::MemoryRange& range) const override;
  transport::KeyCheck check_remote(wire::Rkey key, transport::PdId pd, wire::Qpn queue_pair,
                                   std::uint64_t address, std::uint32_t length, transport::AccessRight right,
                                   transport::MemoryRange& range) const override;
  transport::KeyCheck bind(const transport::WindowBinding& binding, transport::PdId pd,
                           wire::Qpn queue_pair) override;
  transport::KeyCheck invalidate(wire::Rkey key, transport::PdId pd, wire::Qpn queue_pair) override;

 private:
  enum class Kind : std::uint8_t { free, region, window_type_1, window_type_2 };

  // What a key stands for. One cache line: the check of a packet touches nothing else.
  struct alignas(64) Entry {
    ApplicationMemory* memory = nullptr;  // null: free, or a window that is not bound
    std::uint64_t start = 0;              // first address for users of the key
    std::uint64_t length = 0;
    std::uint64_t address = 0;  // of `start`, in the process
    std::uint32_t key = 0;
    transport::PdId pd;
    std::uint32_t access = 0;
    wire::Qpn queue_pair;  // type 2 windows: the QP that it is bound to
    // Region: windows bound to it. Window: place of its region. Free: place of the next free entry.
    std::uint32_t link = 0;
    // Type 2 windows that are bound: the places of their neighbours in their QP's list; 0: there is none.
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
    Kind kind = Kind::free;
  };
  static_assert(sizeof(Entry) == 64);
  static constexpr std::uint32_t kChunkEntries = 4096;
  // Lists of windows, selected by the low bits of their QP's number. There are so many that each QP of a
  // device has a list to itself (qp_table.hpp).
  static constexpr std::uint32_t kWindowLists = 1u << 16;

  // An entry's place is its index in keys, less `first_index_`; it is 1 or more.
  std::uint32_t place_of(std::uint32_t key) const;
  std::uint32_t first_key(std::uint32_t place) const;
  Entry& at(std::uint32_t place);
  const Entry* find(std::uint32_t key) const;
  Entry* find(std::uint32_t key);
  Entry* find_region(transport::Lkey key);
  Entry* find_window(wire::Rkey key);
  Entry* take_entry();
  void give_back(Entry& entry);
  static void describe(Entry& entry, const RegionSpec& spec);
  void unbind(Entry& window);
  std::uint32_t& window_list(wire::Qpn queue_pair) {
    return window_lists_[queue_pair.value & (kWindowLists - 1)];
  }
  void enlist(Entry& window);
  void delist(Entry& window);
  static std::uint32_t key_after_bind(const Entry& window, wire::Rkey next);
  static transport::KeyCheck check_window(const Entry* window, const transport::WindowBinding& binding,
                                          transport::PdId pd);
  void attach(Entry& window, Entry& region, const transport::WindowBinding& binding, wire::Qpn queue_pair);
  static transport::KeyCheck check_range(const Entry& entry, std::uint64_t address, std::uint32_t length,
                                         transport::AccessRight right, transport::MemoryRange& range);

  const std::uint32_t max_entries_;
  std::vector<std::unique_ptr<Entry[]>> chunks_;
  const NumberSeed seed_;
  const std::uint32_t first_index_;  // the index in keys of place 0, which is never given out
  std::uint32_t highest_place_ = 0;  // the highest that was taken so far
  std::uint32_t oldest_free_ = 0;    // given out next
  std::uint32_t newest_free_ = 0;
  std::uint32_t free_count_ = 0;
  std::vector<std::uint32_t> window_lists_;  // first place of each list; empty without type 2 windows
};

}  // namespace urnic::memory
