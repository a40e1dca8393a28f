#include "provider/shared_pages/shared_ranges.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "provider/freestanding/address.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/object_list.hpp"
#include "provider/old_symbol_versions.hpp"
#include "provider/shared_pages/page_exchange.hpp"
#include "provider/shared_pages/queue_pages.hpp"
#include "provider/shared_pages/still_mapped.hpp"

namespace urnic::provider {
namespace {

// A piece of a range for a child, beside the piece itself.
struct ChildsCopy {
  MappedPiece piece;
  void* copy;  // null: there is no memory for one, and the child gets none of the piece
  ChildsCopy* next;
  ChildsCopy* previous;
};

struct SharedRange {
  abi::PageRange range;
  std::uint64_t inode;
  ObjectList<ChildsCopy> copies;  // while a fork is under way
  SharedRange* next;
  SharedRange* previous;
};

struct Ranges {
  Mutex lock;
  ObjectList<SharedRange> list;
};
Ranges ranges;

void copy_for_child(SharedRange& range, const MappedPiece& piece) {
  if (!piece.readable) return;
  auto* const copy = create_object<ChildsCopy>();
  const std::uint64_t length = piece.end - piece.begin;
  void* const memory = copy == nullptr ? MAP_FAILED
                                       : map_memory(nullptr, length, PROT_READ | PROT_WRITE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) madvise(pointer_to(piece.begin), length, MADV_DONTFORK);
  if (copy == nullptr) return;
  copy->piece = piece;
  if (memory != MAP_FAILED) {
    std::memcpy(memory, pointer_to(piece.begin), length);
    copy->copy = memory;
  }
  range.copies.add(*copy);
}

// Before the fork, so that the contents are those that a copy-on-write child would find; whatever other
// threads write between this and the fork is not ordered with it anyway. Looks once through all mappings:
// there may be thousands of ranges.
void before_fork() {
  ranges.lock.lock();
  if (ranges.list.first() == nullptr) return;
  for_all_mapped_pieces([](std::uint64_t inode, const MappedPiece& mapped) {
    for (SharedRange* range = ranges.list.first(); range != nullptr; range = range->next) {
      MappedPiece piece;
      if (range->inode == inode && cut_piece(mapped, range->range, piece)) copy_for_child(*range, piece);
    }
  });
}

template <typename Use>
void use_copies(Use use) {
  for (SharedRange* range = ranges.list.first(); range != nullptr; range = range->next) {
    while (ChildsCopy* const copy = range->copies.first()) {
      use(copy->piece, copy->copy, copy->piece.end - copy->piece.begin);
      range->copies.remove(*copy);
      destroy_object(copy);
    }
  }
}

void after_fork_in_parent() {
  use_copies([](const MappedPiece& piece, void* copy, std::uint64_t length) {
    if (copy != nullptr) {
      munmap(copy, length);
    } else {
      madvise(pointer_to(piece.begin), length, MADV_DOFORK);
    }
  });
  ranges.lock.unlock();
}

// The child's memory is private again, and nothing of it is registered (join_context).
void after_fork_in_child() {
  use_copies([](const MappedPiece& piece, void* copy, std::uint64_t length) {
    if (copy == nullptr) return;
    if (!piece.writable) mprotect(copy, length, PROT_READ);
    move_memory(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, pointer_to(piece.begin));
  });
  while (SharedRange* const range = ranges.list.first()) {
    ranges.list.remove(*range);
    destroy_object(range);
  }
  ranges.lock.renew();
}

void register_fork_handlers() { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }

}  // namespace

Mutex& registration_lock() { return ranges.lock; }

namespace {

void register_handlers_once() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork_handlers);
}

// Null: no memory, or no such file.
SharedRange* new_range(const abi::PageRange& range, const Descriptor& file) {
  register_handlers_once();
  auto* const shared = create_object<SharedRange>();
  if (shared == nullptr) return nullptr;
  shared->range = range;
  shared->inode = inode_of(file.get());
  if (shared->inode != 0) return shared;
  destroy_object(shared);
  return nullptr;
}

SharedRange* find(const abi::PageRange& range, const Descriptor& file) {
  const std::uint64_t inode = inode_of(file.get());
  for (SharedRange* each = ranges.list.first(); each != nullptr; each = each->next)
    if (each->range.address == range.address && each->inode == inode) return each;
  return nullptr;
}

bool is_in_mind(const abi::PageRange& range) {
  for (SharedRange* each = ranges.list.first(); each != nullptr; each = each->next) {
    const abi::PageRange& other = each->range;
    if (other.address < range.address + range.length && range.address < other.address + other.length)
      return true;
  }
  return false;
}

void forget(SharedRange* range) {
  if (range == nullptr) return;
  ranges.list.remove(*range);
  destroy_object(range);
}

}  // namespace

abi::Sharing share(const abi::PageRange& range, const Descriptor& file) {
  SharedRange* const shared = new_range(range, file);
  if (shared == nullptr) return abi::Sharing::refused_by_kernel;
  const abi::Sharing outcome = share_pages(range, file.get());
  if (outcome == abi::Sharing::shared) {
    ranges.list.add(*shared);
  } else {
    destroy_object(shared);
  }
  return outcome;
}

void unshare(const abi::PageRange& range, const Descriptor& file) {
  if (range.length == 0 || !file.valid()) return;
  make_pages_private(range, file.get());
  forget(find(range, file));
}

// A program may have closed a device without destroying its queues. Their pages stay shared, until others are
// in them.
int share_part(const abi::PageRange& range, const Descriptor& file, std::uint64_t offset) {
  SharedRange* const shared = new_range(range, file);
  if (shared == nullptr) return ENOMEM;
  const int error = put_queue_pages(range, file.get(), offset, is_in_mind(range));
  if (error == 0) {
    ranges.list.add(*shared);
  } else {
    destroy_object(shared);
  }
  return error;
}

void unshare_part(const abi::PageRange& range, const Descriptor& file) {
  SharedRange* const shared = find(range, file);
  if (shared == nullptr) return;
  take_queue_pages(range);
  forget(shared);
}

}  // namespace urnic::provider
