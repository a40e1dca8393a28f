// An application's memory and the device's key table, as plain bytes and a short list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "device_model/transport/memory_access.hpp"

namespace urnic::transport::bench {

// Bytes at addresses [base, base + size). Parts can be unmapped: keys still allow them, access to them fails.
class BenchMemory final : public AddressSpace {
 public:
  BenchMemory(std::uint64_t base, std::size_t size) : base_(base), bytes_(size) {}

  std::uint64_t base() const { return base_; }
  std::size_t size() const { return bytes_.size(); }

  // False if any byte of it is outside or unmapped; then nothing is copied.
  bool read(std::uint64_t address, std::span<std::byte> into) const;
  bool write(std::uint64_t address, std::span<const std::byte> from);
  void unmap(std::uint64_t address, std::uint64_t length) { holes_.push_back({address, length}); }
  void map_everything() { holes_.clear(); }

  // For tests' own looks; the range must be inside.
  std::vector<std::byte> bytes(std::uint64_t address, std::size_t length) const;
  std::uint64_t word(std::uint64_t address) const;  // 8 bytes, native order
  void set_word(std::uint64_t address, std::uint64_t value);
  // Byte i becomes pattern_byte(i, seed).
  void fill_pattern(std::uint64_t address, std::size_t length, std::uint8_t seed = 0);

 private:
  struct Hole {
    std::uint64_t address;
    std::uint64_t length;
  };
  bool accessible(std::uint64_t address, std::uint64_t length) const;

  std::uint64_t base_;
  std::vector<std::byte> bytes_;
  std::vector<Hole> holes_;
};

// A byte sequence in which a shift or a swap shows: no period below 251.
std::byte pattern_byte(std::size_t position, std::uint8_t seed = 0);
std::vector<std::byte> pattern(std::size_t length, std::uint8_t seed = 0, std::size_t from = 0);

// Regions by key. The same number is lkey and rkey.
class BenchKeys final : public MemoryKeys {
 public:
  struct Region {
    std::uint32_t key = 0;
    PdId pd;
    BenchMemory* memory = nullptr;
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    std::vector<AccessRight> rights;
  };

  // All rights over all of `memory` if none are named.
  void add(std::uint32_t key, PdId pd, BenchMemory& memory, std::initializer_list<AccessRight> rights = {});
  void remove(std::uint32_t key);

  // What `bind` and `invalidate` answer from now on, and what they were asked, in order.
  KeyCheck bind_result = KeyCheck::ok;
  KeyCheck invalidate_result = KeyCheck::ok;
  std::vector<WindowBinding> bindings;
  std::vector<wire::Rkey> invalidated;

  KeyCheck check_local(Lkey key, PdId pd, std::uint64_t address, std::uint32_t length, AccessRight right,
                       MemoryRange& range) const override;
  KeyCheck check_remote(wire::Rkey key, PdId pd, wire::Qpn queue_pair, std::uint64_t address,
                        std::uint32_t length, AccessRight right, MemoryRange& range) const override;
  KeyCheck bind(const WindowBinding& binding, PdId pd, wire::Qpn queue_pair) override;
  KeyCheck invalidate(wire::Rkey key, PdId pd, wire::Qpn queue_pair) override;

 private:
  KeyCheck check(std::uint32_t key, PdId pd, std::uint64_t address, std::uint32_t length, AccessRight right,
                 MemoryRange& range) const;

  std::vector<Region> regions_;
};

}  // namespace urnic::transport::bench
