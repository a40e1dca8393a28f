#include "device_model/memory/shared_mapping.hpp"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "device_model/memory/page_size.hpp"

namespace urnic::memory {
namespace {

// The pages around a range, in the file.
struct Pages {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return begin + bytes; }
};

std::optional<Pages> pages_around(std::uint64_t offset, std::uint64_t length, std::uint64_t page) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(offset, length, &end) || end > UINT64_MAX - page) return {};
  const std::uint64_t begin = offset / page * page;
  return Pages{begin, (end + page - 1) / page * page - begin};
}

bool has_all(int file, const Pages& pages) {
  struct stat status {};
  return fstat(file, &status) == 0 && status.st_size >= 0 &&
         pages.end() <= static_cast<std::uint64_t>(status.st_size);
}

SharedMapping mapping_of(void* mapped, const Pages& pages, std::uint64_t offset, std::uint64_t length,
                         std::uint64_t page) {
  const std::span all(static_cast<std::byte*>(mapped), pages.bytes);
  return {all, all.subspan(offset - pages.begin, length), page};
}

}  // namespace

std::uint64_t page_bytes_of(int file) {
  struct statfs system {};
  const bool is_huge = fstatfs(file, &system) == 0 && system.f_type == HUGETLBFS_MAGIC;
  return is_huge ? static_cast<std::uint64_t>(system.f_bsize) : page_bytes();
}

std::optional<SharedMapping> map_file(int file, std::uint64_t offset, std::uint64_t length, bool writable) {
  const std::uint64_t page = page_bytes_of(file);
  const auto pages = pages_around(offset, length, page);
  if (!pages || (page != page_bytes() && !has_all(file, *pages))) return {};
  void* const mapped = mmap(nullptr, pages->bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, file,
                            static_cast<off_t>(pages->begin));
  if (mapped == MAP_FAILED) return {};
  return mapping_of(mapped, *pages, offset, length, page);
}

// munmap(2) detaches what is not of the pages.
std::optional<SharedMapping> map_segment(const Segment& segment, std::uint64_t offset, std::uint64_t length,
                                         bool writable) {
  shmid_ds facts{};
  const auto pages = pages_around(offset, length, segment.page_bytes);
  if (!pages || shmctl(segment.identifier, IPC_STAT, &facts) != 0) return {};
  const std::uint64_t whole =
      (facts.shm_segsz + segment.page_bytes - 1) / segment.page_bytes * segment.page_bytes;
  if (pages->end() > whole) return {};
  void* const attached = shmat(segment.identifier, nullptr, writable ? 0 : SHM_RDONLY);
  if (attached == reinterpret_cast<void*>(-1)) return {};
  auto* const all = static_cast<std::byte*>(attached);
  if ((pages->begin != 0 && munmap(all, pages->begin) != 0) ||
      (pages->end() != whole && munmap(all + pages->end(), whole - pages->end()) != 0)) {
    munmap(all, whole);
    return {};
  }
  return mapping_of(all + pages->begin, *pages, offset, length, segment.page_bytes);
}

}  // namespace urnic::memory
