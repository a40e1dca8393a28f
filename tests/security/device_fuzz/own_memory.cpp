#include "tests/security/device_fuzz/own_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace urnic::device_fuzz {
namespace {

constexpr std::size_t kPart = 64 << 10;
constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void map_at(void* place, int protection, int flags, int descriptor = -1) {
  if (mmap(place, kPart, protection, flags | MAP_FIXED, descriptor, 0) == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "mmap");
}

// Maps a memory file whose second half is missing.
void map_short_file(void* place) {
  const int file = memfd_create("own", MFD_CLOEXEC);
  if (file < 0) return;
  if (ftruncate(file, kPart) == 0) {
    map_at(place, PROT_READ | PROT_WRITE, MAP_SHARED, file);
    if (ftruncate(file, kPart / 2) != 0) map_at(place, PROT_NONE, kPrivate);
  }
  close(file);
}

}  // namespace

OwnMemory::OwnMemory(Chance& chance)
    : chance_(chance),
      data_(static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kPrivate, -1, 0))) {
  if (data_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
}

std::uint64_t OwnMemory::address() const {
  return reinterpret_cast<std::uintptr_t>(data_) + chance_.below(kBytes / 2);
}

std::uint64_t OwnMemory::length() const {
  return chance_.once_in(3) ? chance_.from(1, 4096) : chance_.from(1, kBytes / 2);
}

void OwnMemory::disturb() {
  void* const place = data_ + kPart * chance_.below(kBytes / kPart);
  switch (chance_.below(8)) {
    case 0:  // unmapped for a moment, during which this process maps nothing else into the gap
      munmap(place, kPart);
      usleep(200);
      map_at(place, PROT_NONE, kPrivate);
      break;
    case 1:
      map_at(place, PROT_NONE, kPrivate);
      break;
    case 2:
      map_at(place, PROT_READ, kPrivate);
      break;
    case 3:
      map_short_file(place);
      break;
    case 4:
      madvise(place, kPart, MADV_DONTNEED);
      break;
    default:  // as at the start
      map_at(place, PROT_READ | PROT_WRITE, kPrivate);
  }
}

}  // namespace urnic::device_fuzz
