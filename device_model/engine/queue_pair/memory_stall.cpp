#include "device_model/engine/queue_pair/memory_stall.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/engine/batch/message_tail.hpp"

namespace urnic::engine {

namespace {

// The bytes that completions and packets of the list refer to.
std::size_t bytes_of(const ActionList& list) {
  std::size_t bytes = 0;
  for (const MemoryAction& action : list.memory) {
    if (action.kind == AccessKind::write) bytes += action.length;
  }
  for (const PacketAction& packet : list.packets) bytes += packet.length;
  for (const CompletionAction& action : list.completions) bytes += action.completion.data.size();
  return bytes;
}

}  // namespace

MemoryStall::MemoryStall(QueuePairContext& queue_pair, ActionList& list) : queue_pair_(queue_pair) {
  take_accesses(list);
  take_results(list);
  move_bytes();
}

// Entries stay in place, so that other queue pairs' indices stay valid.
void MemoryStall::take_accesses(ActionList& from) {
  for (std::uint32_t index = 0; index < from.memory.size(); ++index) {
    MemoryAction& action = from.memory[index];
    if (action.stream->queue_pair != &queue_pair_ || action.kind == AccessKind::none) continue;
    places_.push_back(index);
    list_.memory.push_back(action);
    if (action.kind == AccessKind::atomic) {
      list_.memory.back().operands = static_cast<std::uint32_t>(list_.atomics.size());
      list_.atomics.push_back(from.atomics[action.operands]);
    }
    action.kind = AccessKind::none;
  }
}

std::uint32_t MemoryStall::accesses_before(std::uint32_t index) const {
  return static_cast<std::uint32_t>(std::lower_bound(places_.begin(), places_.end(), index) -
                                    places_.begin());
}

void MemoryStall::take_results(ActionList& from) {
  const auto take_completions = [this](std::vector<CompletionAction>& others,
                                       std::vector<CompletionAction>& own) {
    std::erase_if(others, [&](const CompletionAction& action) {
      if (action.stream->queue_pair != &queue_pair_) return false;
      own.push_back(action);
      own.back().accesses = accesses_before(action.accesses);
      return true;
    });
  };
  take_completions(from.completions, list_.completions);
  take_completions(from.sent, list_.sent);
  std::erase_if(from.events, [this](const EventAction& action) {
    if (action.queue_pair != &queue_pair_) return false;
    list_.events.push_back(action);
    return true;
  });
  std::erase_if(from.packets, [this](const PacketAction& action) {
    if (action.stream->queue_pair != &queue_pair_) return false;
    list_.packets.push_back(action);
    list_.packets.back().accesses = accesses_before(action.accesses);
    return true;
  });
}

std::span<std::byte> MemoryStall::move(std::span<const std::byte> bytes) {
  const std::span<std::byte> place = std::span(bytes_).subspan(bytes_used_, bytes.size());
  if (!bytes.empty()) std::memcpy(place.data(), bytes.data(), bytes.size());
  bytes_used_ += bytes.size();
  return place;
}

// Gathered payload goes into a packet of the same list, after the accesses that gather it.
void MemoryStall::move_bytes() {
  bytes_.resize(bytes_of(list_));
  for (MemoryAction& action : list_.memory) {
    if (action.kind == AccessKind::write) action.local = move({action.local, action.length}).data();
  }
  for (CompletionAction& action : list_.completions) action.completion.data = move(action.completion.data);
  auto access = list_.memory.begin();
  for (PacketAction& packet : list_.packets) {
    if (packet.address != nullptr) packet.address = &addresses_.emplace_back(*packet.address);
    const std::byte* const before = packet.payload;
    packet.payload = move({before, packet.length}).data();
    const auto end = list_.memory.begin() + packet.accesses;
    for (; access != end; ++access) {
      if (access->kind != AccessKind::read) continue;
      access->local = const_cast<std::byte*>(packet.payload) + (access->local - before);
    }
  }
}

bool MemoryStall::advance() {
  for (;;) {
    if (job_ != nullptr) {
      if (!job_->end(job_pieces_)) return false;
      end_job();
    }
    while (next_ < list_.memory.size() && discards(next_)) ++next_;
    if (next_ == list_.memory.size()) return true;
    memory::WaitingMemory* const waiting = list_.memory[next_].memory->waiting();
    if (waiting == nullptr) {
      do_now(next_++);
    } else if (waiting->idle()) {
      begin_job(*waiting);
    } else {
      return false;
    }
  }
}

// Takes consecutive accesses of one kind to one memory. The end of a message is its own piece, as in a batch.
void MemoryStall::begin_job(memory::WaitingMemory& memory) {
  const AccessKind kind = list_.memory[next_].kind;
  std::size_t bytes = 0;
  job_end_ = next_;
  const auto add = [&](std::uint32_t index, std::uint64_t offset, std::uint64_t end) {
    const MemoryAction& action = list_.memory[index];
    if (end == offset) return;
    job_pieces_.push_back({action.address + offset, {action.local + offset, end - offset}, false});
    job_actions_.push_back(index);
  };
  for (; job_end_ < list_.memory.size(); ++job_end_) {
    const MemoryAction& action = list_.memory[job_end_];
    if (discards(job_end_)) continue;
    if (action.kind != kind || action.memory != &memory) break;
    bytes += action.length;
    if (job_pieces_.size() + 2 > memory.kMaxPieces || bytes > memory.kMaxBytes) break;
    if (kind == AccessKind::atomic) {
      auto* const original = reinterpret_cast<std::byte*>(list_.atomics[action.operands].original);
      job_pieces_.push_back({action.address, {original, sizeof(std::uint64_t)}, false});
      job_actions_.push_back(job_end_++);
      break;
    }
    const std::uint64_t tail =
        action.message_end ? tail_begin(action.address, action.address + action.length) - action.address
                           : action.length;
    add(job_end_, 0, tail);
    add(job_end_, tail, action.length);
  }
  job_ = &memory;
  if (kind == AccessKind::read) return memory.begin_read(job_pieces_);
  if (kind == AccessKind::write) return memory.begin_write(job_pieces_);
  const MemoryAction& action = list_.memory[next_];
  const AtomicOperands& operands = list_.atomics[action.operands];
  memory.begin_operation({.address = action.address,
                          .compares = operands.kind == transport::AtomicKind::compare_swap,
                          .compare = operands.compare,
                          .swap_or_add = operands.swap_or_add});
}

void MemoryStall::end_job() {
  for (std::size_t piece = 0; piece < job_pieces_.size(); ++piece) {
    if (job_pieces_[piece].failed) fail(job_actions_[piece]);
  }
  next_ = job_end_;
  job_ = nullptr;
  job_pieces_.clear();
  job_actions_.clear();
}

memory::Transfer MemoryStall::transfer_of(const MemoryAction& action) const {
  return {.address = action.address, .local = {action.local, action.length}, .failed = false};
}

void MemoryStall::do_now(std::uint32_t index) {
  const MemoryAction& action = list_.memory[index];
  if (action.kind == AccessKind::atomic) return operate_now(index);
  memory::Transfer transfer = transfer_of(action);
  if (action.kind == AccessKind::read) {
    action.memory->read({&transfer, 1});
  } else {
    action.memory->write({&transfer, 1});
  }
  if (transfer.failed) fail(index);
}

void MemoryStall::operate_now(std::uint32_t index) {
  const MemoryAction& action = list_.memory[index];
  const AtomicOperands& operands = list_.atomics[action.operands];
  std::uint64_t word = 0;
  memory::Transfer transfer{
      .address = action.address, .local = std::as_writable_bytes(std::span{&word, 1}), .failed = false};
  action.memory->read({&transfer, 1});
  if (transfer.failed) return fail(index);
  *operands.original = word;
  const bool swaps = operands.kind == transport::AtomicKind::compare_swap;
  if (swaps && word != operands.compare) return;
  word = swaps ? operands.swap_or_add : word + operands.swap_or_add;
  action.memory->write({&transfer, 1});
  if (transfer.failed) fail(index);
}

void MemoryStall::fail(std::uint32_t index) {
  const MemoryAction& action = list_.memory[index];
  if (action.stream->fail(index, action.tag)) failed_.push_back(action.stream);
}

void MemoryStall::fail() {
  job_ = nullptr;
  for (std::uint32_t index = next_; index < list_.memory.size(); ++index) fail(index);
  next_ = static_cast<std::uint32_t>(list_.memory.size());
}

bool MemoryStall::touches(const memory::ApplicationMemory& memory, std::uint64_t address,
                          std::uint64_t length) const {
  return std::any_of(list_.memory.begin() + next_, list_.memory.end(), [&](const MemoryAction& action) {
    return action.memory == &memory && action.address - address < length;
  });
}

HeldInput* MemoryStall::place_for_input(std::size_t size) {
  if (held_.size() == kHeldInputs || held_bytes_ + size > kHeldBytes) return nullptr;
  held_bytes_ += size;
  return &held_.emplace_back();
}

void MemoryStall::hold(const wire::Frame& frame, const link::PacketOrigin& origin) {
  HeldInput* const input = place_for_input(frame.size());
  if (input == nullptr) return;
  input->origin = origin;
  input->bytes.resize(frame.size());
  wire::copy_whole(frame, input->bytes.data());
}

void MemoryStall::hold(const transport::InboundPacket& datagram) {
  HeldInput* const input = place_for_input(datagram.grh.size() + datagram.payload.size());
  if (input == nullptr) return;
  input->headers = datagram.headers;
  input->congestion_experienced = datagram.congestion_experienced;
  input->selective_acks = datagram.selective_acks;
  input->grh_bytes = datagram.grh.size();
  input->local_route = datagram.local_route;
  for (const auto piece : {datagram.grh, datagram.payload})
    input->bytes.insert(input->bytes.end(), piece.begin(), piece.end());
}

}  // namespace urnic::engine
