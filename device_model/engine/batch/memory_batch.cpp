#include "device_model/engine/batch/memory_batch.hpp"

#include <algorithm>

#include "device_model/engine/batch/message_tail.hpp"

namespace urnic::engine {

MemoryBatch::MemoryBatch() {
  for (Direction* direction : {&reads_, &writes_}) {
    for (Transfers& batch : direction->processes) {
      batch.transfers.resize(kMaxTransfers);
      batch.first.resize(kMaxTransfers);
      batch.last.resize(kMaxTransfers);
    }
  }
}

void MemoryBatch::run(ActionList& list, std::vector<ActionStream*>& failed) {
  list_ = &list;
  failed_ = &failed;
  for (std::uint32_t index = 0; index < list.memory.size(); ++index) {
    const MemoryAction& action = list.memory[index];
    if (action.stream->discards(index)) continue;
    if (must_wait(action)) {
      end_stretch();
      if (action.stream->discards(index)) continue;
    }
    switch (action.kind) {
      case AccessKind::read:
        add_read(index);
        break;
      case AccessKind::write:
        add_write(index);
        break;
      case AccessKind::atomic:
        add_atomic(index);
        break;
      case AccessKind::none:
        break;
    }
  }
  end_stretch();
}

// An earlier access of the stream, in this stretch, would be carried out after `action`.
bool MemoryBatch::must_wait(const MemoryAction& action) const {
  const ActionStream& stream = *action.stream;
  switch (action.kind) {
    case AccessKind::read:
      return stream.stretch_with_write == stretch_ || stream.stretch_with_atomic == stretch_;
    case AccessKind::atomic:
      return stream.stretch_with_write == stretch_;
    case AccessKind::write:
      return stream.stretch_with_write == stretch_ && stream.written != action.memory;
    case AccessKind::none:
      break;
  }
  return false;
}

MemoryBatch::Transfers& MemoryBatch::transfers_of(Direction& direction, memory::ApplicationMemory* memory) {
  for (std::uint32_t i = 0; i < direction.used; ++i) {
    if (direction.processes[i].memory != memory) continue;
    if (direction.processes[i].count < kMaxTransfers) return direction.processes[i];
    end_stretch();
    return transfers_of(direction, memory);
  }
  if (direction.used == kMaxProcesses) end_stretch();
  Transfers& batch = direction.processes[direction.used++];
  batch.memory = memory;
  batch.count = 0;
  return batch;
}

bool MemoryBatch::join(Transfers& to, std::uint64_t address, std::byte* local, std::uint32_t length,
                       std::uint32_t index) {
  if (to.count == 0) return false;
  memory::Transfer& before = to.transfers[to.count - 1];
  if (before.address + before.local.size() != address || before.local.data() + before.local.size() != local) {
    return false;
  }
  before.local = {before.local.data(), before.local.size() + length};
  std::uint32_t& last = to.last[to.count - 1];
  list_->memory[last].next_joined = index;
  last = index;
  return true;
}

void MemoryBatch::append(Transfers& to, std::uint64_t address, std::byte* local, std::uint32_t length,
                         std::uint32_t index) {
  to.transfers[to.count] = {.address = address, .local = {local, length}, .failed = false};
  to.first[to.count] = index;
  to.last[to.count] = index;
  ++to.count;
}

void MemoryBatch::add_read(std::uint32_t index) {
  const MemoryAction& action = list_->memory[index];
  Transfers& batch = transfers_of(reads_, action.memory);
  if (!join(batch, action.address, action.local, action.length, index)) {
    append(batch, action.address, action.local, action.length, index);
  }
}

// A piece that begins inside an aligned word ends at the word's boundary, so that the next copy begins with a
// whole word and tears none.
void MemoryBatch::add_write(std::uint32_t index) {
  const MemoryAction& action = list_->memory[index];
  const std::uint64_t end = action.address + action.length;
  const std::uint64_t body_end = action.message_end ? tail_begin(action.address, end) : end;
  std::uint64_t at = action.address;
  std::byte* local = action.local;
  const auto add = [&](std::uint64_t to, bool joinable) {
    if (to <= at) return;
    const auto length = static_cast<std::uint32_t>(to - at);
    Transfers& batch = transfers_of(writes_, action.memory);
    if (!joinable || !join(batch, at, local, length, index)) {
      const std::uint64_t boundary = word_begin(at + kWordBytes - 1);
      if (boundary > at && boundary < to) {
        const auto head = static_cast<std::uint32_t>(boundary - at);
        append(batch, at, local, head, index);
        append(transfers_of(writes_, action.memory), boundary, local + head, length - head, index);
      } else {
        append(batch, at, local, length, index);
      }
    }
    local += length;
    at = to;
  };
  add(body_end, true);
  if (action.message_end) add(end, false);
  action.stream->stretch_with_write = stretch_;
  action.stream->written = action.memory;
}

void MemoryBatch::add_atomic(std::uint32_t index) {
  const MemoryAction& action = list_->memory[index];
  if (!atomics_.takes(action)) end_stretch();
  atomics_.add(action, index);
  action.stream->stretch_with_atomic = stretch_;
}

void MemoryBatch::end_stretch() {
  run_direction(reads_, AccessKind::read);
  if (!atomics_.empty()) atomics_.run(*list_, [this](std::uint32_t index) { fail(index); });
  run_direction(writes_, AccessKind::write);
  ++stretch_;
}

void MemoryBatch::run_direction(Direction& direction, AccessKind kind) {
  for (std::uint32_t i = 0; i < direction.used; ++i) {
    Transfers& batch = direction.processes[i];
    const std::span<memory::Transfer> transfers{batch.transfers.data(), batch.count};
    copying_with_.store(batch.memory->owner(), std::memory_order_relaxed);
    if (kind == AccessKind::read) {
      batch.memory->read(transfers);
    } else {
      batch.memory->write(transfers);
    }
    for (std::uint32_t t = 0; t < batch.count; ++t) {
      if (transfers[t].failed) find_failed_actions(batch, t, kind);
    }
  }
  if (direction.used != 0) copying_with_.store(0, std::memory_order_relaxed);
  direction.used = 0;
}

// A transfer that joins several actions failed: tries each action alone, so that only impossible ones fail.
void MemoryBatch::find_failed_actions(Transfers& batch, std::uint32_t transfer, AccessKind kind) {
  const std::uint64_t begin = batch.transfers[transfer].address;
  const std::uint64_t end = begin + batch.transfers[transfer].local.size();
  const std::uint32_t last = batch.last[transfer];
  std::uint32_t index = batch.first[transfer];
  if (index == last) return fail(index);
  for (;; index = list_->memory[index].next_joined) {
    const MemoryAction& action = list_->memory[index];
    const std::uint64_t from = std::max(begin, action.address);
    const std::uint64_t to = std::min(end, action.address + action.length);
    memory::Transfer part{
        .address = from,
        .local = {action.local + (from - action.address), static_cast<std::size_t>(to - from)},
        .failed = false};
    if (!action.stream->discards(index)) {
      if (kind == AccessKind::read) {
        batch.memory->read({&part, 1});
      } else {
        batch.memory->write({&part, 1});
      }
      if (part.failed) fail(index);
    }
    if (index == last) return;
  }
}

void MemoryBatch::fail(std::uint32_t index) {
  const MemoryAction& action = list_->memory[index];
  if (action.stream->fail(index, action.tag)) failed_->push_back(action.stream);
}

}  // namespace urnic::engine
