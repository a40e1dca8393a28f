#include "device_model/transport/lazy_pages.hpp"

#include <sys/mman.h>

#include <array>
#include <new>
#include <utility>

namespace urnic::transport {
namespace {

struct Pages {
  void* begin = nullptr;
  std::size_t bytes = 0;
};

// Of one thread.
class Spare {
 public:
  Spare() = default;
  ~Spare() {
    for (const Pages& pages : kept_)
      if (pages.begin != nullptr) munmap(pages.begin, pages.bytes);
  }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

  // Null: none has so many bytes.
  void* take(std::size_t bytes) {
    for (Pages& pages : kept_)
      if (pages.bytes == bytes) return std::exchange(pages, {}).begin;
    return nullptr;
  }
  // False: there is no room.
  bool keep(void* begin, std::size_t bytes) {
    for (Pages& pages : kept_) {
      if (pages.begin != nullptr) continue;
      pages = {begin, bytes};
      return true;
    }
    return false;
  }

 private:
  std::array<Pages, 8> kept_;
};

thread_local Spare spare;

}  // namespace

void* take_lazy_pages(std::size_t bytes) {
  if (void* const kept = spare.take(bytes)) return kept;
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return pages;
}

void give_back_lazy_pages(void* pages, std::size_t bytes) noexcept {
  if (!spare.keep(pages, bytes)) munmap(pages, bytes);
}

}  // namespace urnic::transport
