#include "device_model/memory/vm_process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "device_model/memory/bytewise_copies.hpp"
#include "device_model/memory/transfer_groups.hpp"

namespace urnic::memory {

namespace {

// Read from the vDSO in a few nanoseconds; advances with the kernel's tick.
std::int64_t coarse_clock_tick() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool tears_words(const Transfer& transfer) {
  return transfer.local.size() > 1 &&
         is_copied_bytewise(transfer.address, reinterpret_cast<std::uintptr_t>(transfer.local.data()));
}

}  // namespace

// A process number can pass to another process, and exec puts another program behind the same number.
// Checking the witness, the mem file, is a system call, so it is done once per tick of the coarse clock, not
// once per batch.
bool VmProcessMemory::process_is_there() {
  if (gone_) return false;
  const std::int64_t tick = coarse_clock_tick();
  if (tick == checked_at_) return true;
  checked_at_ = tick;
  return owner_lives();
}

bool VmProcessMemory::owner_lives() {
  if (gone_) return false;
  gone_ = !mem_.owner_lives();
  return !gone_;
}

// Carries out the `rest` of a batch through the mem file. The number can stop working before the address
// space ends: ESRCH for a process whose first thread has ended and whose others run on (or are about to be
// killed, too), EPERM for one that has made itself undumpable. The mem file is bound to the address space and
// reaches it to the end.
void VmProcessMemory::go_on(std::span<Transfer> rest, MemFileWay mem_file_way) {
  if (rest.empty() || !owner_lives()) return;
  number_works_ = false;
  (mem_.*mem_file_way)(rest);
}

void VmProcessMemory::read(std::span<Transfer> batch) {
  if (!process_is_there()) return fail_all(batch);
  if (!number_works_ || only_mem_file_) return mem_.read(batch);
  const std::size_t tried =
      run_batch(batch, Adjacency::any, [this](const TransferGroup& group, std::size_t k) {
        const JoinedPieces remote(group, k);  // 16 KiB, on the stack and not cleared
        return process_vm_readv(pid_, group.local + k, group.count - k, remote.pieces, remote.count, 0);
      });
  go_on(batch.subspan(tried), &MemFileMemory::read);
}

void VmProcessMemory::write(std::span<Transfer> batch) {
  if (!process_is_there()) return fail_all(batch);
  while (!batch.empty()) {
    const auto torn = std::find_if(batch.begin(), batch.end(), tears_words);
    const auto whole = static_cast<std::size_t>(torn - batch.begin());
    if (whole > 0) write_as_is(batch.first(whole));
    if (torn != batch.end()) write_moved(*torn);
    batch = batch.subspan(std::min(whole + 1, batch.size()));
  }
}

void VmProcessMemory::write_as_is(std::span<Transfer> batch) {
  if (!number_works_ || only_mem_file_) return mem_.write(batch);
  const std::size_t tried =
      run_batch(batch, Adjacency::any, [this](const TransferGroup& group, std::size_t k) {
        const JoinedPieces remote(group, k);  // 16 KiB, on the stack and not cleared
        return process_vm_writev(pid_, group.local + k, group.count - k, remote.pieces, remote.count, 0);
      });
  go_on(batch.subspan(tried), &MemFileMemory::write);
}

// Writes from a buffer that has the same offset within 64 bytes as the address, so that whole words are
// copied.
void VmProcessMemory::write_moved(Transfer& transfer) {
  alignas(kOverlapBytes) std::byte place[kOverlapBytes + kMovedAtOnce];
  transfer.failed = false;
  for (std::size_t done = 0; done < transfer.local.size() && !transfer.failed; done += kMovedAtOnce) {
    const std::uint64_t address = transfer.address + done;
    const std::size_t length = std::min(kMovedAtOnce, transfer.local.size() - done);
    Transfer moved{.address = address, .local = {place + address % kOverlapBytes, length}, .failed = false};
    std::memcpy(moved.local.data(), transfer.local.data() + done, length);
    write_as_is({&moved, 1});
    transfer.failed = moved.failed;
  }
}

}  // namespace urnic::memory
