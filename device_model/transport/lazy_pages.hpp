// Address space whose pages take memory when they are touched first. A thread keeps some of what it gives
// back: for each connection the kernel would map and unmap it anew, which takes microseconds.
#pragma once

#include <cstddef>

namespace urnic::transport {

// Bytes of any values. Throws std::bad_alloc.
void* take_lazy_pages(std::size_t bytes);
// By any thread; `bytes` as when they were taken.
void give_back_lazy_pages(void* pages, std::size_t bytes) noexcept;

}  // namespace urnic::transport
