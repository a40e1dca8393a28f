#include "provider/shared_pages/page_exchange.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "provider/freestanding/address.hpp"
#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/file_size_limit.hpp"
#include "provider/old_symbol_versions.hpp"
#include "provider/shared_pages/frozen_range.hpp"
#include "provider/shared_pages/memory_kind.hpp"
#include "provider/shared_pages/other_threads.hpp"
#include "provider/shared_pages/still_mapped.hpp"

namespace urnic::provider {
namespace {

using abi::PageRange;
using abi::Sharing;

constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, from Linux 5.14 on
// Bits of /proc/self/pagemap: the page is present, or swapped out. Others were never touched: they need no
// copy.
constexpr std::uint64_t kTouched = std::uint64_t{3} << 62;

// A signal's handler could use the pages that are being exchanged.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_;
};

// Directly: AddressSanitizer's own pwrite looks at what the program may read, block by block of its heap.
bool write_all(int file, const char* from, std::uint64_t length, std::uint64_t offset) {
  while (length != 0) {
    const long written = syscall(SYS_pwrite64, file, from, length, offset);
    if (written <= 0) return false;
    from += written;
    offset += static_cast<std::uint64_t>(written);
    length -= static_cast<std::uint64_t>(written);
  }
  return true;
}

Descriptor open_pagemap() { return Descriptor(open_file("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)); }

// Calls `use(begin, end)` for each run of touched pages; false at once if that returns false. Offsets in
// bytes.
template <typename Use>
bool for_touched_pages(const Descriptor& pagemap, std::uint64_t address, std::uint64_t length, Use use) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t entries[256];
  std::uint64_t begin = 0;
  for (std::uint64_t at = 0; at < length;) {
    const std::uint64_t pages = std::min<std::uint64_t>((length - at) / page, std::size(entries));
    const std::size_t bytes = pages * sizeof entries[0];
    const auto place = static_cast<off_t>((address + at) / page * sizeof entries[0]);
    const bool known =
        pagemap.valid() && pread(pagemap.get(), entries, bytes, place) == static_cast<ssize_t>(bytes);
    for (std::uint64_t i = 0; i < pages; ++i, at += page) {
      if (!known || (entries[i] & kTouched) != 0) continue;
      if (begin < at && !use(begin, at)) return false;
      begin = at + page;
    }
  }
  return begin >= length || use(begin, length);
}

// Makes system calls only: where pages are frozen, another thread may hold any lock while it waits.
bool copy_touched(const Descriptor& pagemap, const char* from, std::uint64_t length, int file) {
  return for_touched_pages(pagemap, reinterpret_cast<std::uintptr_t>(from), length,
                           [&](std::uint64_t begin, std::uint64_t end) {
                             return write_all(file, from + begin, end - begin, begin);
                           });
}

// Calls `use(begin, end)` for each run of pages that the file has. Offsets in bytes.
template <typename Use>
void for_pages_of_file(int file, std::uint64_t begin, std::uint64_t end, Use use) {
  while (begin < end) {
    const off_t data = lseek(file, static_cast<off_t>(begin), SEEK_DATA);
    if (data < 0 || static_cast<std::uint64_t>(data) >= end) return;
    const off_t hole = lseek(file, data, SEEK_HOLE);
    const std::uint64_t until = hole < 0 ? end : std::min(end, static_cast<std::uint64_t>(hole));
    use(static_cast<std::uint64_t>(data), until);
    begin = until;
  }
}

// With a right for each page at once, instead of a page fault for each.
void bring_in(const PageRange& range, int file) {
  for_pages_of_file(file, 0, range.length, [&](std::uint64_t begin, std::uint64_t end) {
    madvise(pointer_to(range.address + begin), end - begin, kPopulateWrite);
  });
}

bool map_in_place(const PageRange& range, int file, const MemoryKind& kind) {
  char* const place = pointer_to(range.address);
  if (map_memory(place, range.length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != place)
    return false;
  if (kind.not_in_children) madvise(place, range.length, MADV_DONTFORK);
  if (kind.not_in_dumps) madvise(place, range.length, MADV_DONTDUMP);
  return true;
}

// No thread but this one can use the pages.
Sharing exchange_alone(const PageRange& range, int file, const MemoryKind& kind) {
  const Descriptor pagemap = open_pagemap();
  const bool done =
      copy_touched(pagemap, pointer_to(range.address), range.length, file) && map_in_place(range, file, kind);
  return done ? Sharing::shared : Sharing::refused_by_kernel;
}

// While it is frozen, this thread may touch nothing in the range: it would wait for itself.
Sharing exchange_frozen(const PageRange& range, int file, const MemoryKind& kind) {
  const Descriptor pagemap = open_pagemap();
  FrozenRange frozen(range);
  if (!frozen.is_frozen()) return Sharing::refused_for_threads;
  if (!copy_touched(pagemap, frozen.pages(), range.length, file)) return Sharing::refused_by_kernel;
  if (!map_in_place(range, file, kind)) return Sharing::refused_by_kernel;
  frozen.replaced();
  return Sharing::shared;
}

// The page becomes this process's own by a write that changes nothing, whatever other threads write
// meanwhile.
void touch(char* page) { __atomic_fetch_add(page, 0, __ATOMIC_RELAXED); }

// True: all pages of the file that the piece shows are private copies now.
bool make_private(const MappedPiece& piece, int file) {
  const int rights = (piece.readable ? PROT_READ : 0) | (piece.writable ? PROT_WRITE : 0);
  char* const place = pointer_to(piece.begin);
  const std::uint64_t length = piece.end - piece.begin;
  const auto offset = static_cast<off_t>(piece.offset);
  const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
  if (map_memory(place, length, PROT_READ | PROT_WRITE, flags, file, offset) != place) return false;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for_pages_of_file(file, piece.offset, piece.offset + length, [&](std::uint64_t begin, std::uint64_t end) {
    char* const first = place + (begin - piece.offset);
    if (madvise(first, end - begin, kPopulateWrite) == 0) return;
    for (std::uint64_t at = 0; at < end - begin; at += page) touch(first + at);
  });
  if (rights != (PROT_READ | PROT_WRITE)) mprotect(place, length, rights);
  return true;
}

bool holds_own_stack(const PageRange& range) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here - range.address < range.length;
}

}  // namespace

Sharing share_pages(const PageRange& range, int file) {
  if (!may_write(range.length)) return Sharing::refused_by_kernel;
  MemoryKind kind;
  if (holds_own_stack(range) || !look_at_memory(range, kind)) return Sharing::refused_for_memory;
  const SignalsWait signals;
  const Sharing outcome =
      have_other_threads() ? exchange_frozen(range, file, kind) : exchange_alone(range, file, kind);
  if (outcome == Sharing::shared) bring_in(range, file);
  return outcome;
}

// A mapping replaces another one in one step, and the file's pages are the same before and after it: other
// threads notice nothing. A private mapping of a file shows its pages until they are written; then each page
// of the file is copied, and the file loses its own. From then on MADV_DONTNEED leads to zeros, as it does in
// private memory (madvise(2)).
void make_pages_private(const PageRange& range, int file) {
  bool all = true;
  for_mapped_pieces(range, inode_of(file),
                    [&](const MappedPiece& piece) { all = make_private(piece, file) && all; });
  if (all) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(range.length));
}

}  // namespace urnic::provider
