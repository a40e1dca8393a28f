#include "provider/kernel/uverbs_map.hpp"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <cstring>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/freestanding/lock.hpp"
#include "provider/kernel/page_watch.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/uverbs_connection.hpp"
#include "provider/old_symbol_versions.hpp"

namespace urnic::kernel {

namespace {

// A device that hears of no watch looks at the page now and then.
void tell_of_watch(int device, void* page, size_t length, uint64_t offset) {
  const provider::Descriptor watch = watch_pages(page, length);
  if (!watch.valid()) return;
  const abi::WatchPageRequest request = {offset, reinterpret_cast<uintptr_t>(page)};
  const iovec part = {const_cast<abi::WatchPageRequest*>(&request), sizeof request};
  const int descriptor = watch.get();
  UverbsReply reply;
  UverbsTurn turn(device, false);
  if (turn.error() == 0) turn.ask({abi::ControlOpcode::watch_page, &part, 1, &descriptor, 1}, reply);
}

// Clocks that children of this process do not have. A program may have given the address to other memory
// since.
constexpr size_t kMostClocks = 256;
void* clocks[kMostClocks] = {};
size_t clock_count = 0;
size_t clock_length = 0;
provider::Mutex clocks_lock;

// A child that reads its parent's clock finds the time 0.
void forget_clocks_in_child() {
  clocks_lock.renew();
  const size_t count = clock_count < kMostClocks ? clock_count : kMostClocks;
  for (size_t i = 0; i < count; ++i)
    real::mmap(clocks[i], clock_length, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  clock_count = 0;
}

void register_clocks_handler() { pthread_atfork(nullptr, nullptr, forget_clocks_in_child); }

void keep_from_children(void* page, size_t length) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_clocks_handler);
  madvise(page, length, MADV_DONTFORK);
  const provider::Lock lock(clocks_lock);
  clock_length = length;
  clocks[clock_count++ % kMostClocks] = page;
}

}  // namespace

void* map_uverbs(int device, void* address, size_t length, int protection, int flags, off_t offset) {
  const int kept = errno;
  UverbsReply reply;
  abi::MapPagesReply place = {};
  int error = 0;
  {
    UverbsTurn turn(device, false);
    error = turn.error() == EOPNOTSUPP ? ENODEV : turn.error();
    abi::MapPagesRequest request = {};
    request.offset = static_cast<uint64_t>(offset);
    request.length = length;
    request.protection = static_cast<uint32_t>(protection);
    const iovec part = {&request, sizeof request};
    if (error == 0) error = turn.ask({abi::ControlOpcode::map_pages, &part, 1}, reply);
  }
  if (error == 0 && (reply.length != sizeof place || !reply.descriptors[0].valid())) error = EIO;
  if (error != 0) {
    errno = error;
    return MAP_FAILED;
  }
  std::memcpy(&place, reply.body, sizeof place);
  void* const mapped = real::mmap(address, length, protection, flags, reply.descriptors[0].get(),
                                  static_cast<off_t>(place.offset));
  if (mapped == MAP_FAILED) return mapped;
  if (place.watch == abi::PageWatch::reads) keep_from_children(mapped, length);
  if (place.watch != abi::PageWatch::none)
    tell_of_watch(device, mapped, length, static_cast<uint64_t>(offset));
  errno = kept;
  return mapped;
}

}  // namespace urnic::kernel
