#include "provider/plugin/connection/owner_mark.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace urnic::provider {
namespace {

// The kernel rounds this size up to a page, and clears the whole page.
constexpr std::size_t kMarkBytes = 1;

}  // namespace

OwnerMark::~OwnerMark() {
  if (mark_ != nullptr) munmap(mark_, kMarkBytes);
}

void OwnerMark::set() {
  process_ = getpid();
  void* page = mmap(nullptr, kMarkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, kMarkBytes, MADV_WIPEONFORK) != 0) {
    munmap(page, kMarkBytes);
    return;
  }
  mark_ = static_cast<char*>(page);
  *mark_ = 1;
}

bool OwnerMark::is_same_process() const { return process_ == getpid(); }

}  // namespace urnic::provider
