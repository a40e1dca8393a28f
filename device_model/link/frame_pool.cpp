#include "device_model/link/frame_pool.hpp"

#include <sys/mman.h>

#include <new>

namespace urnic::link {
namespace {

PooledFrame* map_slots(std::uint32_t slots) {
  void* const pages = mmap(nullptr, sizeof(PooledFrame) * slots, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  return static_cast<PooledFrame*>(pages);
}

}  // namespace

FramePool::FramePool(std::uint32_t slots) : slots_(map_slots(slots), Unmap{slots}), capacity_(slots) {
  free_.reserve(slots);
}

void FramePool::Unmap::operator()(PooledFrame* begin) const { munmap(begin, sizeof(PooledFrame) * slots); }

}  // namespace urnic::link
