// Private copies of what follows the heads in a work queue's slots: gather lists and inline data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <type_traits>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// The gather list is copied as bytes: both structs have the same layout.
static_assert(sizeof(transport::Sge) == sizeof(abi::ScatterGather));
static_assert(offsetof(transport::Sge, address) == offsetof(abi::ScatterGather, address));
static_assert(offsetof(transport::Sge, length) == offsetof(abi::ScatterGather, length));
static_assert(offsetof(transport::Sge, lkey) == offsetof(abi::ScatterGather, lkey));
static_assert(std::is_trivially_copyable_v<transport::Sge>);

// Stops the compiler from reading shared memory again after this point instead of using the copy.
inline void forget_shared_memory() { asm volatile("" ::: "memory"); }

class SlotCopies {
 public:
  // `bytes` per slot, a multiple of 16. Room that is never used is never touched, so it costs no memory.
  SlotCopies(std::uint32_t slots, std::uint32_t bytes)
      : bytes_(bytes), room_(new std::byte[std::size_t{slots} * bytes]) {}

  std::span<const transport::Sge> copy_gather_list(std::uint32_t slot, const std::byte* from,
                                                   std::uint32_t count) {
    // The array's elements begin their life with the copy (C++20 implicit-lifetime types).
    const std::span<const std::byte> copy =
        copy_bytes(slot, from, count * static_cast<std::uint32_t>(sizeof(transport::Sge)));
    return {std::launder(reinterpret_cast<const transport::Sge*>(copy.data())), count};
  }

  std::span<const std::byte> copy_bytes(std::uint32_t slot, const std::byte* from, std::uint32_t length) {
    std::byte* const to = room_.get() + std::size_t{slot} * bytes_;
    if (length != 0) std::memcpy(to, from, length);
    forget_shared_memory();
    return {to, length};
  }

 private:
  std::uint32_t bytes_;
  std::unique_ptr<std::byte[]> room_;  // aligned for any type, as every array new is
};

}  // namespace urnic::engine
