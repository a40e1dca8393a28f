#include "provider/kernel/device_pages.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstring>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/freestanding/lock.hpp"
#include "provider/kernel/page_watch.hpp"
#include "provider/kernel/program_memory.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/socket_identity.hpp"
#include "provider/kernel/uverbs_connection.hpp"
#include "provider/old_symbol_versions.hpp"

namespace urnic::kernel {

namespace {

// Pages that children do not have.
struct KeptPages {
  DevicePages pages;
  uint64_t cookie;         // socket_cookie of the device's descriptor; 0: the record is free
  bool is_left_by_parent;  // this process has a private page there
};
constexpr size_t kMostKept = 2048;
constinit KeptPages kept_pages[kMostKept] = {};
constinit size_t kept_count = 0;  // of records that were ever in use
constinit provider::Mutex kept_lock;

// At the end of a private page, where a program neither stores nor reads: a program may have given the
// address to other memory since the fork.
struct Mark {
  char text[16];
  uint64_t cookie;
  void* address;
};

Mark mark_of(const KeptPages& kept) {
  Mark mark = {"urnic's fork", kept.cookie, kept.pages.address};
  return mark;
}

void* place_of_mark(const DevicePages& pages) {
  return static_cast<char*>(pages.address) + pages.length - sizeof(Mark);
}

bool still_has_mark(const KeptPages& kept) {
  const Mark expected = mark_of(kept);
  Mark found = {};
  const ProgramMemory memory(__builtin_frame_address(0));
  return memory.read(&found, place_of_mark(kept.pages), sizeof found) == sizeof found &&
         std::memcmp(&found, &expected, sizeof found) == 0;
}

// False: other memory is there.
bool leave_private_page(const KeptPages& kept) {
  const DevicePages& pages = kept.pages;
  void* const place = real::mmap(pages.address, pages.length, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) return false;
  const Mark mark = mark_of(kept);
  std::memcpy(place_of_mark(pages), &mark, sizeof mark);
  if ((pages.protection & PROT_WRITE) == 0) mprotect(pages.address, pages.length, pages.protection);
  return true;
}

void after_fork_in_child() {
  kept_lock.renew();
  for (size_t i = 0; i < kept_count; ++i) {
    KeptPages& kept = kept_pages[i];
    if (kept.cookie == 0 || kept.is_left_by_parent) continue;
    kept.is_left_by_parent = leave_private_page(kept);
    if (!kept.is_left_by_parent) kept.cookie = 0;
  }
}

void register_fork_handler() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

// Null: all are in use. A program unmaps pages, and closes devices, without the stand-in's knowledge.
KeptPages* record_for(const void* address) {
  KeptPages* free = nullptr;
  for (size_t i = 0; i < kept_count; ++i) {
    KeptPages& kept = kept_pages[i];
    if (kept.cookie != 0 && kept.pages.address == address) return &kept;
    if (kept.cookie == 0) free = &kept;
  }
  if (free != nullptr) return free;
  if (kept_count < kMostKept) return &kept_pages[kept_count++];
  for (KeptPages& kept : kept_pages)
    if (socket_cookie(kept.pages.device) != kept.cookie) return &kept;
  return nullptr;
}

// Without room for a record a child has the pages.
void keep_from_children(const DevicePages& pages) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork_handler);
  const provider::Lock lock(kept_lock);
  KeptPages* const record = record_for(pages.address);
  if (record == nullptr || madvise(pages.address, pages.length, MADV_DONTFORK) != 0) return;
  *record = {pages, socket_cookie(pages.device), false};
}

// A device that hears of no watch looks at the page now and then.
void tell_of_watch(UverbsTurn& turn, const DevicePages& pages) {
  const provider::Descriptor watch = watch_pages(pages.address, pages.length);
  if (!watch.valid()) return;
  const abi::WatchPageRequest request = {static_cast<uint64_t>(pages.offset),
                                         reinterpret_cast<uintptr_t>(pages.address)};
  const iovec part = {const_cast<abi::WatchPageRequest*>(&request), sizeof request};
  const int descriptor = watch.get();
  UverbsReply reply;
  turn.ask({abi::ControlOpcode::watch_page, &part, 1, &descriptor, 1}, reply);
}

// The first that is left by the parent, at or behind the record `from`. False: there is none.
bool next_left(uint64_t cookie, size_t& from, KeptPages& found) {
  const provider::Lock lock(kept_lock);
  for (; from < kept_count; ++from) {
    found = kept_pages[from];
    if (found.cookie == cookie && found.is_left_by_parent) return true;
  }
  return false;
}

void forget(size_t record) {
  const provider::Lock lock(kept_lock);
  kept_pages[record].cookie = 0;
}

}  // namespace

int map_device_pages(UverbsTurn& turn, DevicePages& pages) {
  UverbsReply reply;
  abi::MapPagesReply place = {};
  abi::MapPagesRequest request = {};
  request.offset = static_cast<uint64_t>(pages.offset);
  request.length = pages.length;
  request.protection = static_cast<uint32_t>(pages.protection);
  const iovec part = {&request, sizeof request};
  if (const int error = turn.ask({abi::ControlOpcode::map_pages, &part, 1}, reply)) return error;
  if (reply.length != sizeof place || !reply.descriptors[0].valid()) return EIO;
  std::memcpy(&place, reply.body, sizeof place);
  void* const mapped = real::mmap(pages.address, pages.length, pages.protection, pages.flags,
                                  reply.descriptors[0].get(), static_cast<off_t>(place.offset));
  if (mapped == MAP_FAILED) return errno;
  pages.address = mapped;
  if (place.watch == abi::PageWatch::none) return 0;
  keep_from_children(pages);
  tell_of_watch(turn, pages);
  return 0;
}

int map_pages_of_parent(UverbsTurn& turn, int device) {
  const uint64_t cookie = socket_cookie(device);
  KeptPages left = {};
  for (size_t record = 0; next_left(cookie, record, left); ++record) {
    if (!still_has_mark(left)) {
      forget(record);
      continue;
    }
    left.pages.flags |= MAP_FIXED;
    if (const int error = map_device_pages(turn, left.pages)) return error;
  }
  return 0;
}

}  // namespace urnic::kernel
