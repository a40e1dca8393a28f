// Turns a batch of transfers into system calls that take vectors: groups of at most IOV_MAX pieces, resumed
// behind each piece that fails. Used by the ways that go through the kernel.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

// The kernel takes at most IOV_MAX (1024) pieces and a little less than 2 GiB a call.
inline constexpr std::size_t kMaxGroupPieces = 1024;
inline constexpr std::size_t kMaxGroupBytes = std::size_t{1} << 30;

// Pieces of consecutive transfers; piece k belongs to the transfer `first + k`.
struct TransferGroup {
  std::size_t first = 0;
  std::size_t count = 0;
  iovec local[kMaxGroupPieces];
  iovec remote[kMaxGroupPieces];
};

// Where the next group begins: a transfer and, if it is larger than a group, an offset into it.
struct BatchPosition {
  std::size_t index = 0;
  std::size_t offset = 0;
};

// Whether the pieces of a call may lie at any addresses, or must follow each other (preadv, pwritev).
enum class Adjacency { any, contiguous_addresses };

// The other process's side of a group's pieces from one of them on. Pieces that follow each other there are
// one: for each of its own the kernel looks up and pins pages anew, which takes longer than to copy a packet.
// On this side they lie apart, as packets do that were received.
struct JoinedPieces {
  std::size_t count = 0;
  iovec pieces[kMaxGroupPieces];

  JoinedPieces(const TransferGroup& group, std::size_t from);
};

// Fills `group` with one piece or more from `position` on, and advances `position`. With
// `contiguous_addresses` the group ends where a transfer does not begin at the end of the one before it.
void fill_group(std::span<const Transfer> batch, Adjacency adjacency, BatchPosition& position,
                TransferGroup& group);

// True for errors after which no other transfer of the process can succeed.
inline bool process_is_lost(int error) { return error == ESRCH || error == EPERM || error == ENOSYS; }

// Marks all transfers failed.
void fail_all(std::span<Transfer> batch);

// Carries out a group: call(group, k) moves the pieces from k on, in order, up to the first that it cannot
// move; it returns how many bytes it moved, or -1 and errno if none. Marks the pieces that failed. Returns
// how many pieces were tried: fewer than the group has if the process is lost.
template <class Call>
std::size_t run_group(std::span<Transfer> batch, const TransferGroup& group, Call call) {
  std::size_t k = 0;
  while (k < group.count) {
    const ssize_t moved = call(group, k);
    if (moved < 0 && process_is_lost(errno)) return k;
    std::size_t left = moved < 0 ? 0 : static_cast<std::size_t>(moved);
    while (k < group.count && left >= group.local[k].iov_len) left -= group.local[k++].iov_len;
    if (k < group.count) batch[group.first + k++].failed = true;
  }
  return k;
}

// Carries out a batch, by `call` as for run_group. Returns how many transfers were tried, failed ones
// included: the others were not, because the process is lost, and are marked failed.
template <class Call>
std::size_t run_batch(std::span<Transfer> batch, Adjacency adjacency, Call call) {
  for (Transfer& transfer : batch) transfer.failed = false;
  TransferGroup group;  // 32 KiB, on the stack and not cleared
  BatchPosition position;
  while (position.index < batch.size()) {
    if (position.offset > 0 && batch[position.index].failed) {
      position = {position.index + 1, 0};
      continue;
    }
    fill_group(batch, adjacency, position, group);
    const std::size_t tried = run_group(batch, group, call);
    if (tried < group.count) {
      fail_all(batch.subspan(group.first + tried));
      return group.first + tried;
    }
  }
  return batch.size();
}

}  // namespace urnic::memory
