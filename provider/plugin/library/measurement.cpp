#include "provider/plugin/library/measurement.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "provider/old_symbol_versions.hpp"

namespace urnic::provider {
namespace {

constexpr std::size_t kWord = sizeof(void*);
// More than any release has.
constexpr std::size_t kMostOperations = 256;
constexpr std::size_t kMostContextBytes = 1024;

// The library only stores these addresses; it calls none.
std::uintptr_t mark(std::size_t index) { return 0x75726e'00000000 + index * kWord; }

std::uintptr_t word_at(const void* base, std::size_t offset) {
  std::uintptr_t word;
  std::memcpy(&word, static_cast<const char*>(base) + offset, sizeof word);
  return word;
}

// The word before the ibv_context is the whole structure's size, and the ibv_context begins with the device.
std::size_t find_context(const void* verbs, const ibv_device* device) {
  for (std::size_t at = kWord; at <= kMostContextBytes; at += kWord) {
    if (word_at(verbs, at) == reinterpret_cast<std::uintptr_t>(device) &&
        word_at(verbs, at - kWord) == at + sizeof(ibv_context)) {
      return at;
    }
  }
  return 0;
}

// The length of the run of marks in the library's private part of the context, which holds the table.
std::size_t count_operations(const void* priv) {
  const std::size_t size = malloc_usable_size(const_cast<void*>(priv));
  for (std::size_t at = 0; at + kWord <= size; at += kWord) {
    std::size_t count = 0;
    while (at + (count + 1) * kWord <= size && word_at(priv, at + count * kWord) == mark(count)) ++count;
    if (count != 0) return count;
  }
  return 0;
}

bool measure_context(const Library& library, Measures& measures) {
  private_abi::DeviceOps ops{};
  private_abi::Device device{};
  device.ops = &ops;
  device.reference_count = 1;
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) return false;
  void* verbs =
      library.allocate_context(&device.device, nothing, kMostContextBytes + sizeof(ibv_context), nullptr, 0);
  if (verbs == nullptr) return false;
  measures.context_at = find_context(verbs, &device.device);
  if (measures.context_at != 0) {
    std::uintptr_t marks[kMostOperations];
    for (std::size_t i = 0; i < kMostOperations; ++i) marks[i] = mark(i);
    library.set_operations(static_cast<verbs_context*>(verbs), marks);
    // verbs_context grows at its beginning: its end is the same in all releases.
    constexpr std::size_t kPrivBeforeContext =
        offsetof(verbs_context, context) - offsetof(verbs_context, priv);
    const std::uintptr_t priv = word_at(verbs, measures.context_at - kPrivBeforeContext);
    measures.operations = count_operations(reinterpret_cast<const void*>(priv));
  }
  library.uninit_context(static_cast<verbs_context*>(verbs));
  std::free(verbs);
  return measures.operations != 0;
}

// ibv_qp_to_qp_ex answers only a QP whose tail has the bit.
bool measure_qp(void* handle, Measures& measures) {
  auto* extend = reinterpret_cast<ibv_qp_ex* (*)(ibv_qp*)>(dlsym(handle, "ibv_qp_to_qp_ex"));
  if (extend == nullptr) return false;
  constexpr std::size_t kMostBuilders = 64;
  struct {
    union {
      std::byte room[private_abi::kQpBuildersAt + (kMostBuilders + 2) * kWord];
      ibv_qp qp;
    };
  } probe{};
  for (std::size_t count = 0; count < kMostBuilders; ++count) {
    std::byte* tail = probe.room + qp_tail_at({0, 0, count});
    std::memcpy(tail, &private_abi::kQpIsExtended, sizeof private_abi::kQpIsExtended);
    const bool read = extend(&probe.qp) != nullptr;
    std::memset(tail, 0, sizeof private_abi::kQpIsExtended);
    if (read) {
      measures.qp_builders = count;
      return true;
    }
  }
  return false;
}

}  // namespace

bool measure(const Library& library, void* handle, Measures& measures) {
  return measure_context(library, measures) && measure_qp(handle, measures);
}

}  // namespace urnic::provider
