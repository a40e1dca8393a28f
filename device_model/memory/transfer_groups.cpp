#include "device_model/memory/transfer_groups.hpp"

#include <algorithm>

namespace urnic::memory {

namespace {

// An address in the other process, as system calls want it: never dereferenced here.
void* foreign(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }

// As numbers: a program may name any address, also the last ones.
bool follows(const iovec& before, const iovec& piece) {
  return reinterpret_cast<std::uintptr_t>(before.iov_base) + before.iov_len ==
         reinterpret_cast<std::uintptr_t>(piece.iov_base);
}

}  // namespace

JoinedPieces::JoinedPieces(const TransferGroup& group, std::size_t from) {
  for (; from < group.count; ++from) {
    const iovec& piece = group.remote[from];
    if (count > 0 && follows(pieces[count - 1], piece)) {
      pieces[count - 1].iov_len += piece.iov_len;
    } else {
      pieces[count++] = piece;
    }
  }
}

void fill_group(std::span<const Transfer> batch, Adjacency adjacency, BatchPosition& position,
                TransferGroup& group) {
  group.first = position.index;
  group.count = 0;
  std::size_t bytes = 0;
  std::uint64_t end = 0;
  while (position.index < batch.size() && group.count < kMaxGroupPieces && bytes < kMaxGroupBytes) {
    const Transfer& transfer = batch[position.index];
    const std::uint64_t address = transfer.address + position.offset;
    if (adjacency == Adjacency::contiguous_addresses && group.count > 0 && address != end) return;
    const std::size_t left = transfer.local.size() - position.offset;
    const std::size_t taken = std::min(left, kMaxGroupBytes - bytes);
    group.local[group.count] = {transfer.local.data() + position.offset, taken};
    group.remote[group.count] = {foreign(address), taken};
    ++group.count;
    bytes += taken;
    end = address + taken;
    if (taken < left) {
      position.offset += taken;
      return;
    }
    position = {position.index + 1, 0};
  }
}

void fail_all(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) transfer.failed = true;
}

}  // namespace urnic::memory
