#include "device_model/memory/file_pages.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "device_model/memory/mapped_memory.hpp"

namespace urnic::memory {
namespace {

// What a signal handler may look at. No entry moves.
struct Entry {
  std::atomic<std::byte*> begin{nullptr};  // null: free
  std::atomic<std::size_t> length{0};
};
std::array<Entry, FilePages::kMost> all_pages;

bool has_pages(int file, std::uint64_t offset, std::uint64_t length) {
  struct stat status {};
  if (fstat(file, &status) != 0 || status.st_size < 0) return false;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  return offset <= size && length <= size - offset;
}

}  // namespace

std::unique_ptr<FilePages> FilePages::map(int file, std::uint64_t offset, std::uint64_t length) {
  if (length == 0 || !has_pages(file, offset, length)) return nullptr;
  return keep(map_file(file, offset, length, true));
}

std::unique_ptr<FilePages> FilePages::map(const Segment& segment, std::uint64_t offset,
                                          std::uint64_t length) {
  return length != 0 ? keep(map_segment(segment, offset, length, true)) : nullptr;
}

std::unique_ptr<FilePages> FilePages::keep(const std::optional<SharedMapping>& mapping) {
  if (!mapping) return nullptr;
  auto* const entry = std::find_if(all_pages.begin(), all_pages.end(),
                                   [](const Entry& each) { return each.begin.load() == nullptr; });
  if (entry == all_pages.end()) {
    munmap(mapping->pages.data(), mapping->pages.size());
    return nullptr;
  }
  MappedMemory::watch_bus_errors();
  entry->length.store(mapping->pages.size());
  entry->begin.store(mapping->pages.data());
  return std::unique_ptr<FilePages>(
      new FilePages(*mapping, static_cast<std::size_t>(entry - all_pages.begin())));
}

FilePages::~FilePages() {
  all_pages[number_].begin.store(nullptr);
  munmap(mapping_.pages.data(), mapping_.pages.size());
}

bool FilePages::replace_lost(const void* place) {
  for (const Entry& each : all_pages) {
    std::byte* const begin = each.begin.load();
    const std::size_t length = each.length.load();
    if (begin == nullptr || place < begin || place >= begin + length) continue;
    return mmap(begin, length, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  return false;
}

}  // namespace urnic::memory
