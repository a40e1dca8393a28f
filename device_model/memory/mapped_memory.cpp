#include "device_model/memory/mapped_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <thread>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/file_pages.hpp"
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

// So much is unmapped at once: it takes half a millisecond, in which no other thread can map anything.
constexpr std::size_t kSlice = 64 << 20;

std::size_t slice_of(const SharedMapping& mapping) {
  return std::max<std::size_t>(kSlice, mapping.page_bytes);
}

void unmap_slices(const SharedMapping& mapping) {
  for (auto pages = mapping.pages; !pages.empty();) {
    const auto slice = pages.first(std::min(slice_of(mapping), pages.size()));
    munmap(slice.data(), slice.size());
    pages = pages.subspan(slice.size());
  }
}

// The thread that ends a large mapping must not be away for long, so another one does it.
void unmap(const SharedMapping& mapping) {
  if (mapping.pages.size() > kSlice) {
    try {
      return std::thread(unmap_slices, mapping).detach();
    } catch (const std::system_error&) {  // no thread is to be had
    }
  }
  unmap_slices(mapping);
}

// The kernel never promises more than it has (vm.overcommit_memory, proc(5)): a page that is touched for the
// first time may be refused, with SIGBUS. Otherwise it gets one, or the kernel ends a process.
bool small_pages_may_run_out() {
  char mode = '2';
  const Descriptor setting(open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC));
  return !setting || ::read(setting.get(), &mode, 1) != 1 || mode == '2';
}

// Huge ones run out at any time: a program may punch a hole, in a sealed file or in a segment, and take what
// the kernel has left.
bool pages_may_run_out(const SharedMapping& mapping) {
  return mapping.page_bytes != page_bytes() || small_pages_may_run_out();
}

}  // namespace

// Gives the thread other pages, with which it goes on; what it has copied is of no use. Any other bus error
// is as it was without this handler: the access is made again, and ends the process.
void MappedMemory::on_bus_error(int signal, siginfo_t* info, void* /*context*/) {
  MappedMemory* const memory = accessed_;
  const auto* const place = static_cast<const std::byte*>(info->si_addr);
  const bool is_there = memory != nullptr && place >= memory->mapping_.pages.data() &&
                        place < memory->mapping_.pages.data() + memory->mapping_.pages.size();
  const bool goes_on = is_there ? memory->replace_pages(place) : FilePages::replace_lost(place);
  if (!goes_on) sigaction(signal, &handler_before, nullptr);
}

// Nobody begins an access here any more. One under way elsewhere in a large mapping comes here, too.
bool MappedMemory::replace_pages(const std::byte* around) {
  lost_.store(true, std::memory_order_relaxed);
  const std::span<std::byte> pages = mapping_.pages;
  const std::size_t most = slice_of(mapping_);
  const auto offset = static_cast<std::size_t>(around - pages.data()) / most * most;
  const auto slice = pages.subspan(offset, std::min(most, pages.size() - offset));
  return mmap(slice.data(), slice.size(), PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

MappedMemory::MappedMemory(const SharedMapping& mapping, std::uint64_t address, Rights rights,
                           ApplicationMemory& otherwise)
    : mapping_(mapping), address_(address), rights_(rights), otherwise_(otherwise) {
  count_.fetch_add(1, std::memory_order_relaxed);
}

MappedMemory::~MappedMemory() {
  unmap(mapping_);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void MappedMemory::watch_bus_errors() {
  struct sigaction present {};
  if (sigaction(SIGBUS, nullptr, &present) != 0) return;
  if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == &on_bus_error) return;
  handler_before = present;
  struct sigaction action {};
  action.sa_sigaction = &on_bus_error;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

bool MappedMemory::may_map(const MappedRange& range) {
  return count() < kMost && range.length <= kMostBytes &&
         range.offset % page_bytes() == range.address % page_bytes();
}

std::unique_ptr<MappedMemory> MappedMemory::map(int file, const MappedRange& range, bool writable,
                                                ApplicationMemory& otherwise) {
  if (!may_map(range)) return nullptr;
  const auto mapping = map_file(file, range.offset, range.length, writable);
  if (!mapping) return nullptr;
  watch_bus_errors();
  const int seals = fcntl(file, F_GET_SEALS);
  const bool lasting = seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && !pages_may_run_out(*mapping);
  return std::unique_ptr<MappedMemory>(
      new MappedMemory(*mapping, range.address, {writable, lasting}, otherwise));
}

// Nobody can make a segment smaller.
std::unique_ptr<MappedMemory> MappedMemory::map(const Segment& segment, const MappedRange& range,
                                                bool writable, ApplicationMemory& otherwise) {
  if (!may_map(range)) return nullptr;
  const auto mapping = map_segment(segment, range.offset, range.length, writable);
  if (!mapping) return nullptr;
  watch_bus_errors();
  return std::unique_ptr<MappedMemory>(
      new MappedMemory(*mapping, range.address, {writable, !pages_may_run_out(*mapping)}, otherwise));
}

// Null: not all of it is here. An address before the range is far behind it, modulo 2^64.
std::byte* MappedMemory::place_of(std::uint64_t address, std::size_t length) const {
  return reach(bytes_, address - address_, length);
}

void MappedMemory::count_access(std::size_t length) { moved_ += std::max<std::size_t>(length, page_bytes()); }

const std::byte* MappedMemory::in_place(std::uint64_t address, std::uint32_t length) {
  const std::byte* const place = rights_.lasting ? place_of(address, length) : nullptr;
  if (place != nullptr) count_access(length);
  return place;
}

std::uint64_t* MappedMemory::word_in_place(std::uint64_t address) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  std::byte* const place = rights_.lasting && rights_.writable ? place_of(address, kWord) : nullptr;
  if (place != nullptr) count_access(kWord);
  return reinterpret_cast<std::uint64_t*>(place);
}

void MappedMemory::read(std::span<Transfer> batch) { copy(batch, Way::read); }

// Transfers become visible in the order of the batch: a program that sees the last word of a message finds
// the rest.
void MappedMemory::write(std::span<Transfer> batch) { copy(batch, Way::write); }

void MappedMemory::copy(std::span<Transfer> batch, Way way) {
  for (Transfer& transfer : batch) {
    transfer.failed = false;
    count_access(transfer.local.size());
    if (way == Way::write) std::atomic_thread_fence(std::memory_order_release);
    if (!copy_here(transfer, way)) copy_beside(transfer, way);
  }
}

// False: not all of it is here.
bool MappedMemory::copy_here(const Transfer& transfer, Way way) {
  std::byte* const place = place_of(transfer.address, transfer.local.size());
  if (place == nullptr || lost_.load(std::memory_order_relaxed)) return false;
  {
    const Access access(*this);
    if (way == Way::read) {
      copy_words(transfer.local.data(), place, transfer.local.size(), place);
    } else {
      copy_words(place, transfer.local.data(), transfer.local.size(), place);
    }
  }
  return !lost_.load(std::memory_order_relaxed);
}

void MappedMemory::copy_otherwise(Transfer& transfer, Way way) {
  if (transfer.local.empty()) return;
  if (way == Way::read) return otherwise_.read({&transfer, 1});
  otherwise_.write({&transfer, 1});
}

// In rising order: what is before the range, in it, behind it.
void MappedMemory::copy_beside(Transfer& transfer, Way way) {
  std::uint64_t at = transfer.address;
  std::span<std::byte> left = transfer.local;
  for (const std::uint64_t end :
       {address_, address_ + bytes_.size(), transfer.address + transfer.local.size()}) {
    if (end <= at || left.empty()) continue;
    Transfer piece{
        .address = at, .local = left.first(std::min<std::uint64_t>(end - at, left.size())), .failed = false};
    if (!copy_here(piece, way)) copy_otherwise(piece, way);
    transfer.failed |= piece.failed;
    at += piece.local.size();
    left = left.subspan(piece.local.size());
  }
  transfer.failed |= !left.empty();  // past the end of the address space
}

}  // namespace urnic::memory
