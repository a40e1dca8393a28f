// Objects on the C heap. C programs load the provider, and it must not bring a C++ runtime library, so it has
// neither operator new nor exceptions.
#pragma once

#include <cstdlib>
#include <new>

namespace urnic::provider {

// A zero-initialised T, or null when memory is short. The caller frees it with `destroy_object`.
template <typename T>
T* create_object() {
  constexpr std::size_t size = (sizeof(T) + alignof(T) - 1) / alignof(T) * alignof(T);
  void* memory = std::aligned_alloc(alignof(T), size);
  return memory == nullptr ? nullptr : new (memory) T{};
}

// Destroys and frees `object`, which may be null.
template <typename T>
void destroy_object(T* object) {
  if (object == nullptr) return;
  object->~T();
  std::free(object);
}

}  // namespace urnic::provider
