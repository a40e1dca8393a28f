// Registered memory, and byte patterns by which misplaced, missing and foreign bytes are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tests/apps/programs/verbs_objects.hpp"

namespace urnic::apps {

inline constexpr int kAllAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// Pages of this process, from mmap.
class Pages {
 public:
  // Zeroed private memory without a promise of swap, so that only what is touched counts. Throws.
  explicit Pages(std::size_t length, int extra_map_flags = 0);
  ~Pages();
  Pages(Pages&& other) noexcept : data_(other.data_), length_(other.length_) { other.data_ = nullptr; }
  Pages& operator=(Pages&&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return length_; }

 private:
  std::byte* data_;
  std::size_t length_;
};

class Memory {
 public:
  // Throws std::runtime_error if it cannot be registered.
  Memory(ibv_pd* pd, std::size_t length, int access = kAllAccess, int extra_map_flags = 0);

  std::byte* data() const { return pages_.data(); }
  std::size_t size() const { return pages_.size(); }
  std::span<std::byte> bytes(std::size_t offset, std::size_t length) const {
    return {data() + offset, length};
  }
  std::uint64_t address(std::size_t offset = 0) const {
    return reinterpret_cast<std::uintptr_t>(data()) + offset;
  }
  ibv_mr* mr() const { return mr_.get(); }
  std::uint32_t lkey() const { return mr_->lkey; }
  std::uint32_t rkey() const { return mr_->rkey; }
  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {address(offset), static_cast<std::uint32_t>(length), lkey()};
  }

 private:
  Pages pages_;
  MrOwner mr_;
};

// The byte at `position` of the pattern `seed`. Two patterns, and one pattern at two positions, agree in one
// byte of 256.
std::byte pattern_byte(std::uint64_t seed, std::uint64_t position);

// Fills `bytes` with the pattern from `position` on.
void fill(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t position = 0);

// What is wrong with `bytes` as that pattern, in words; empty if nothing is.
std::optional<std::string> difference(std::span<const std::byte> bytes, std::uint64_t seed,
                                      std::uint64_t position = 0);

}  // namespace urnic::apps
