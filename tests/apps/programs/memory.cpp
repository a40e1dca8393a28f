#include "tests/apps/programs/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

// The finaliser of SplitMix64: every output bit depends on every input bit.
std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

std::uint64_t pattern_word(std::uint64_t seed, std::uint64_t index) {
  return mix(mix(seed + 1) + index * 0x9E3779B97F4A7C15);
}

std::byte* map(std::size_t length, int extra_flags) {
  void* data = mmap(nullptr, std::max<std::size_t>(length, 1), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | extra_flags, -1, 0);
  require(data != MAP_FAILED, "no memory of {} bytes: {}", length, std::strerror(errno));
  return static_cast<std::byte*>(data);
}

}  // namespace

Pages::Pages(std::size_t length, int extra_map_flags)
    : data_(map(length, extra_map_flags)), length_(length) {}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, std::max<std::size_t>(length_, 1));
}

Memory::Memory(ibv_pd* pd, std::size_t length, int access, int extra_map_flags)
    : pages_(length, extra_map_flags), mr_(ibv_reg_mr(pd, pages_.data(), length, access)) {
  require(mr_ != nullptr, "{} bytes cannot be registered: {}", length, std::strerror(errno));
}

std::byte pattern_byte(std::uint64_t seed, std::uint64_t position) {
  return std::byte(pattern_word(seed, position / kWord) >> (position % kWord * 8));
}

void fill(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t position) {
  std::size_t i = 0;
  for (; i < bytes.size() && (position + i) % kWord != 0; ++i) bytes[i] = pattern_byte(seed, position + i);
  for (; i + kWord <= bytes.size(); i += kWord) {
    const std::uint64_t word = pattern_word(seed, (position + i) / kWord);
    std::memcpy(&bytes[i], &word, kWord);
  }
  for (; i < bytes.size(); ++i) bytes[i] = pattern_byte(seed, position + i);
}

std::optional<std::string> difference(std::span<const std::byte> bytes, std::uint64_t seed,
                                      std::uint64_t position) {
  std::size_t wrong = 0, first = 0;
  std::size_t i = 0;
  const auto look = [&] {
    if (bytes[i] == pattern_byte(seed, position + i)) return;
    if (wrong++ == 0) first = i;
  };
  while (i < bytes.size()) {
    if ((position + i) % kWord == 0 && i + kWord <= bytes.size()) {
      const std::uint64_t word = pattern_word(seed, (position + i) / kWord);
      if (std::memcmp(&bytes[i], &word, kWord) == 0) {
        i += kWord;
        continue;
      }
    }
    look();
    ++i;
  }
  if (wrong == 0) return std::nullopt;
  return fmt::format("{} of {} bytes are wrong, the first at {}: 0x{:02x} instead of 0x{:02x}", wrong,
                     bytes.size(), first, static_cast<unsigned>(bytes[first]),
                     static_cast<unsigned>(pattern_byte(seed, position + first)));
}

}  // namespace urnic::apps
