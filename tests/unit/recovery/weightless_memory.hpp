// Application memory without bytes: every key allows everything, and the data is only its length. What lands
// where is checked by tests/unit/queue_pair.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/transport/memory_access.hpp"

namespace urnic::transport::lab {

class WeightlessMemory final : public AddressSpace {};

class EveryKey final : public MemoryKeys {
 public:
  KeyCheck check_local(Lkey, PdId, std::uint64_t address, std::uint32_t length, AccessRight,
                       MemoryRange& range) const override {
    range = {&memory_, address, length};
    return KeyCheck::ok;
  }
  KeyCheck check_remote(wire::Rkey, PdId, wire::Qpn, std::uint64_t address, std::uint32_t length, AccessRight,
                        MemoryRange& range) const override {
    range = {&memory_, address, length};
    return KeyCheck::ok;
  }
  KeyCheck bind(const WindowBinding&, PdId, wire::Qpn) override { return KeyCheck::ok; }
  KeyCheck invalidate(wire::Rkey, PdId, wire::Qpn) override { return KeyCheck::ok; }

 private:
  mutable WeightlessMemory memory_;
};

inline constexpr std::size_t kLongestPayload = 4096;

// Stands for the payload of any packet.
inline std::span<const std::byte> payload_of(std::uint32_t length) {
  static constexpr std::array<std::byte, kLongestPayload> kBytes{};
  return std::span(kBytes).first(length);
}

}  // namespace urnic::transport::lab
