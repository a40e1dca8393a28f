#include "device_model/memory/mapped_memory.hpp"

#include <sys/mman.h>

#include <csignal>

#include "device_model/memory/page_size.hpp"
#include "device_model/memory/whole_words.hpp"

namespace urnic::memory {

thread_local MappedMemory* MappedMemory::accessed_ = nullptr;

// While it exists, this thread may meet pages that the file has lost: the program has truncated it, or its
// file system is full. The kernel then sends SIGBUS.
class MappedMemory::Access {
 public:
  explicit Access(MappedMemory& memory) {
    accessed_ = &memory;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Access() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    accessed_ = nullptr;
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
};

namespace {

struct sigaction handler_before {};

}  // namespace

// Gives the thread other pages, with which it goes on; what it has copied is of no use. Any other bus error
// is as it was without this handler: the access is made again, and ends the process.
void MappedMemory::on_bus_error(int signal) {
  MappedMemory* const memory = accessed_;
  if (memory == nullptr || !memory->replace_pages()) sigaction(signal, &handler_before, nullptr);
}

bool MappedMemory::replace_pages() {
  lost_.store(true, std::memory_order_relaxed);
  return mmap(mapping_.data(), mapping_.size(), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

MappedMemory::MappedMemory(std::span<std::byte> mapping, const MappedRange& range,
                           ApplicationMemory& otherwise)
    : mapping_(mapping),
      bytes_(mapping.subspan(range.address % page_bytes(), range.length)),
      address_(range.address),
      otherwise_(otherwise) {
  count_.fetch_add(1, std::memory_order_relaxed);
}

MappedMemory::~MappedMemory() {
  munmap(mapping_.data(), mapping_.size());
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void MappedMemory::watch_bus_errors() {
  struct sigaction present {};
  if (sigaction(SIGBUS, nullptr, &present) != 0 || present.sa_handler == &on_bus_error) return;
  handler_before = present;
  struct sigaction action {};
  action.sa_handler = &on_bus_error;
  sigaction(SIGBUS, &action, nullptr);
}

std::unique_ptr<MappedMemory> MappedMemory::map(int file, const MappedRange& range, bool writable,
                                                ApplicationMemory& otherwise) {
  if (count() >= kMost || range.length > kMostBytes) return nullptr;
  const std::uint64_t before = range.address % page_bytes();
  if (range.offset % page_bytes() != before) return nullptr;
  const std::uint64_t pages = (before + range.length + page_bytes() - 1) / page_bytes();
  void* const mapped = mmap(nullptr, pages * page_bytes(), PROT_READ | (writable ? PROT_WRITE : 0),
                            MAP_SHARED, file, static_cast<off_t>(range.offset - before));
  if (mapped == MAP_FAILED) return nullptr;
  watch_bus_errors();
  return std::unique_ptr<MappedMemory>(
      new MappedMemory({static_cast<std::byte*>(mapped), pages * page_bytes()}, range, otherwise));
}

// An address before the region is far behind it, modulo 2^64.
std::byte* MappedMemory::place_of(const Transfer& transfer) const {
  return reach(bytes_, transfer.address - address_, transfer.local.size());
}

void MappedMemory::read(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = place_of(transfer);
    transfer.failed = place == nullptr;
    if (transfer.failed) continue;
    if (!lost_.load(std::memory_order_relaxed)) {
      const Access access(*this);
      load_words(transfer.local.data(), place, transfer.local.size());
    }
    if (lost_.load(std::memory_order_relaxed)) otherwise_.read({&transfer, 1});
  }
}

// Transfers become visible in the order of the batch: a program that sees the last word of a message finds
// the rest.
void MappedMemory::write(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = place_of(transfer);
    transfer.failed = place == nullptr;
    if (transfer.failed) continue;
    std::atomic_thread_fence(std::memory_order_release);
    if (!lost_.load(std::memory_order_relaxed)) {
      const Access access(*this);
      store_words(place, transfer.local.data(), transfer.local.size());
    }
    if (lost_.load(std::memory_order_relaxed)) otherwise_.write({&transfer, 1});
  }
}

}  // namespace urnic::memory
