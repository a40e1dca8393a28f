#include "device_model/capture/ring_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "device_model/memory/sealed_memory.hpp"

namespace urnic::capture {

namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::size_t kMaxRingBytes = std::size_t{1} << 40;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::system_category(), what); }

std::size_t mapped_bytes(std::size_t capacity) { return kRingDataOffset + 2 * capacity; }

void map_at(std::byte* address, std::size_t size, int flags, int descriptor, off_t offset) {
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | flags, descriptor, offset) ==
      MAP_FAILED)
    fail("capture ring: mmap");
}

// Maps indices and records, and the records once more behind them. `flags` are mmap's for the first mapping.
void* map(int descriptor, std::size_t capacity, int flags) {
  void* base =
      mmap(nullptr, mapped_bytes(capacity), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) fail("capture ring: mmap");
  auto* first = static_cast<std::byte*>(base);
  try {
    map_at(first, kRingDataOffset + capacity, flags, descriptor, 0);
    map_at(first + kRingDataOffset + capacity, capacity, 0, descriptor, kRingDataOffset);
  } catch (...) {
    munmap(base, mapped_bytes(capacity));
    throw;
  }
  return base;
}

}  // namespace

RingMemory RingMemory::create(std::size_t bytes, memory::Descriptor& descriptor) {
  if (!std::has_single_bit(bytes) || bytes < kMinRingBytes || bytes > kMaxRingBytes)
    throw std::system_error(EINVAL, std::system_category(),
                            "capture ring: its size must be a power of two from 8 KiB on");
  descriptor = memory::make_sealed_memory("urnic-capture", kRingDataOffset + bytes);
  if (!descriptor) fail("capture ring: its memory");
  RingMemory ring(map(descriptor.get(), bytes, MAP_POPULATE), bytes);
  auto* indices = new (ring.base_) RingIndices{};
  indices->magic = kRingMagic;
  indices->capacity = bytes;
  return ring;
}

RingMemory RingMemory::open(const memory::Descriptor& descriptor) {
  // Without the seals a peer could shrink the file, and reading it would end this process with SIGBUS.
  const int seals = fcntl(descriptor.get(), F_GET_SEALS);
  struct stat file {};
  if (fstat(descriptor.get(), &file) != 0) fail("capture ring: fstat");
  const auto size = static_cast<std::uint64_t>(file.st_size);
  if (seals < 0 || (seals & kSizeSeals) != kSizeSeals || size < kRingDataOffset + kMinRingBytes ||
      !std::has_single_bit(size - kRingDataOffset))
    throw std::runtime_error("capture ring: what the device process handed over is not a sealed ring");
  const std::uint64_t capacity = size - kRingDataOffset;
  RingMemory ring(map(descriptor.get(), capacity, 0), capacity);
  if (ring.indices().magic != kRingMagic || ring.indices().capacity != capacity)
    throw std::runtime_error(
        "capture ring: unknown layout; device process and command must be of the same version");
  return ring;
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), capacity_(other.capacity_) {}

RingMemory::~RingMemory() {
  if (base_ != nullptr) munmap(base_, mapped_bytes(capacity_));
}

}  // namespace urnic::capture
