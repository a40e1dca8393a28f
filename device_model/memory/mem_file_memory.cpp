#include "device_model/memory/mem_file_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "device_model/memory/bytewise_copies.hpp"
#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {

namespace {

off_t file_offset(const TransferGroup& group, std::size_t k) {
  return static_cast<off_t>(reinterpret_cast<std::uintptr_t>(group.remote[k].iov_base));
}

int pieces(const TransferGroup& group, std::size_t k) { return static_cast<int>(group.count - k); }

// The kernel copies through a page of its own, which it fills from offset 0 (mem_rw() in fs/proc/base.c). A
// write copies from offset 0 to the address and, where the transfer crosses a page boundary, from the offset
// of the rest to offset 0 of the next page: both times the distance is the address's offset in its page. For
// a read it is the negative of that. A transfer that would be torn is cut where the distance becomes a
// harmless one. Then only words of the first piece can be torn, if it begins less than kBytewiseDistance
// bytes behind the start (written) or before the end (read) of a page. No cut helps there: the distance of
// each of these words is its own offset.
bool is_written_torn(const Transfer& transfer) { return is_copied_bytewise(transfer.address, 0); }
bool is_read_torn(const Transfer& transfer) { return is_copied_bytewise(0, transfer.address); }

std::uint64_t next_better_write(std::uint64_t address) {
  std::uint64_t offset = kBytewiseDistance;
  while (offset <= address % kPageBytes) offset *= 2;
  return address - address % kPageBytes + offset;
}
std::uint64_t next_better_read(std::uint64_t address) { return address - address % kPageBytes + kPageBytes; }

// Carries out `batch` by `run`, which takes a batch; cuts transfers that would be torn.
template <class IsTorn, class NextBetter, class Run>
void run_untorn(std::span<Transfer> batch, IsTorn is_torn, NextBetter next_better, Run run) {
  while (!batch.empty()) {
    const auto torn = std::find_if(batch.begin(), batch.end(), is_torn);
    const auto whole = static_cast<std::size_t>(torn - batch.begin());
    run(batch.first(whole));
    if (torn == batch.end()) return;
    Transfer rest = *torn;
    torn->failed = false;
    while (!rest.local.empty() && !torn->failed) {
      const std::uint64_t cut = is_torn(rest) ? next_better(rest.address) - rest.address : rest.local.size();
      const std::uint64_t length = std::min(cut, rest.local.size());
      Transfer piece{.address = rest.address, .local = rest.local.first(length), .failed = false};
      run({&piece, 1});
      torn->failed = piece.failed;
      rest = {.address = rest.address + length, .local = rest.local.subspan(length), .failed = false};
    }
    batch = batch.subspan(whole + 1);
  }
}

}  // namespace

bool is_mem_file(int descriptor, pid_t owner) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || (flags & O_PATH) != 0) return false;
  return target_of(descriptor).ends_with("/mem") &&
         (is_on_proc(descriptor, owner) || is_positioned_below_zero(descriptor));
}

pid_t mem_file_number(int mem_file) {
  struct stat file {};
  struct stat ours {};
  if (fstat(mem_file, &file) != 0 || stat("/proc/self", &ours) != 0 || file.st_dev != ours.st_dev) return 0;
  const std::string path = target_of(mem_file);  // /proc/PID/mem
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos || end == 0) return 0;
  const std::size_t begin = path.rfind('/', end - 1) + 1;
  pid_t number = 0;
  const auto [stopped, error] = std::from_chars(path.data() + begin, path.data() + end, number);
  return error == std::errc{} && stopped == path.data() + end ? number : 0;
}

bool address_space_lives(int mem_file) {
  // The kernel returns 0 if the address space has no user left, before it looks at the address. For a living
  // one it fails with EIO, because page 0 is not mapped (mem_rw() in fs/proc/base.c).
  std::byte byte;
  return pread(mem_file, &byte, sizeof byte, 0) != 0;
}

void MemFileMemory::read(std::span<Transfer> batch) {
  run_untorn(batch, is_read_torn, next_better_read, [this](std::span<Transfer> run) {
    run_batch(run, Adjacency::contiguous_addresses, [this](const TransferGroup& group, std::size_t k) {
      return preadv(mem_.get(), group.local + k, pieces(group, k), file_offset(group, k));
    });
  });
}

void MemFileMemory::write(std::span<Transfer> batch) {
  run_untorn(batch, is_written_torn, next_better_write, [this](std::span<Transfer> run) {
    run_batch(run, Adjacency::contiguous_addresses, [this](const TransferGroup& group, std::size_t k) {
      return pwritev(mem_.get(), group.local + k, pieces(group, k), file_offset(group, k));
    });
  });
}

}  // namespace urnic::memory
