// The shared memory of one context: few sealed memfds that are divided into queues, so that a program with
// tens of thousands of QPs stays below the kernel's limit on mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "device_model/control/fabric/loan.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/objects/mapping.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class ArenaAllocator;

// A range of an arena.
struct ArenaPlace {
  std::uint32_t arena = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::byte* data = nullptr;
};

class ArenaBlock : private Loan<ArenaAllocator, ArenaPlace> {
 public:
  using Loan::Loan;

  std::uint32_t arena() const { return value().arena; }
  std::uint64_t offset() const { return value().offset; }
  std::uint64_t length() const { return value().length; }  // 0 for an empty block
  std::byte* data() const { return value().data; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data());
  }
};

class ArenaAllocator {
 public:
  // `limit`: the most bytes of all arenas together. Their numbers begin at `first_number`.
  explicit ArenaAllocator(std::uint64_t limit, std::uint32_t first_number = 0);
  // Arenas are charged to `account`.
  ArenaAllocator(std::uint64_t limit, std::shared_ptr<Account> account);
  // Frees large memory in a thread of its own, without waiting for it.
  ~ArenaAllocator();
  ArenaAllocator(const ArenaAllocator&) = delete;
  ArenaAllocator& operator=(const ArenaAllocator&) = delete;

  // Zeroed memory, aligned to the next power of two of its length, at least 128 bytes and at most a page.
  // Length 0 gives an empty block. Throws std::system_error with ENOMEM when the limit, the account's quota
  // or the machine's memory is used up. Takes long for memory that was not prepared.
  ArenaBlock allocate(std::uint64_t length);

  // Does a portion of the work of allocating blocks of these lengths. Call until it returns true; then
  // `allocate` is fast for them. Throws as `allocate` does, and drops what was prepared.
  bool prepare(std::initializer_list<std::uint64_t> lengths);

  // For telling programs about a block.
  int descriptor(std::uint32_t arena) const;
  std::uint64_t size(std::uint32_t arena) const;
  std::uint64_t total_size() const { return total_; }
  void give_back(const ArenaPlace& place);

 private:
  struct Arena {
    Charge charge;
    memory::Descriptor descriptor;
    SharedMapping mapping;
    std::map<std::uint64_t, std::uint64_t> free;  // offset to length; no two are adjacent
    std::uint64_t untouched = 0;                  // no block was ever at or above this offset
    std::vector<bool> populated;                  // which of its steps have memory
  };
  // A block that is being zeroed.
  struct Preparation {
    ArenaBlock block;
    std::uint64_t dirty = 0;  // bytes from its start that an earlier block may have written
    std::uint64_t done = 0;   // bytes from its start that are ready

    bool ready() const { return done == block.length(); }
  };

  Preparation reserve(std::uint64_t length);
  bool cut(std::uint32_t index, std::uint64_t length, std::uint64_t alignment, Preparation& made);
  void go_on(Preparation& preparation);
  static void populate(Arena& arena, std::uint64_t offset, std::uint64_t length);
  Preparation& preparation_of(std::uint64_t length, std::vector<const Preparation*>& found);
  void add_arena(std::uint64_t at_least);

  const std::uint32_t first_number_;
  std::uint64_t limit_;
  std::shared_ptr<Account> account_;  // may be null
  std::uint64_t total_ = 0;
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::list<Preparation> preparations_;
};

}  // namespace urnic::control
