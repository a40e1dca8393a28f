// The tagged buffers of a tag-matching SRQ, in the order of posting: the first whose tag equals that of a
// message under its mask gets the message (ibv_post_srq_ops(3)).
//
// Buffers that are posted while messages may be on their way to the program for which no tag was here wait
// behind the others until the two are in step again: one of those messages might be theirs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class TagList {
 public:
  // With `entries` places, each with room for `max_sges` segments.
  TagList(std::uint32_t entries, std::uint32_t max_sges);

  // Where a buffer is, by the number of its entry: nowhere, in the list, or with the message that got it.
  enum class State : std::uint8_t { free, listed, matched };

  // Puts a buffer at the end; `waits`: it is matched only after `admit`. The segments at `sges` are copied.
  // False, and nothing done, if the entry is not free or there are too many segments.
  bool add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask, const std::byte* sges,
           std::uint32_t sge_count, bool waits);
  // Takes a buffer out of the list, and its entry is free. False if it is not in the list.
  bool remove(std::uint32_t entry);
  // Gives the first buffer that matches to the caller, until `release`; waiting ones are passed over.
  std::optional<std::uint32_t> match(std::uint64_t tag);
  void release(std::uint32_t entry) { entries_[entry].state = State::free; }
  // None waits any more.
  void admit() { first_waiting_ = kNone; }
  bool any_waiting() const { return first_waiting_ != kNone; }

  // Of a buffer that was matched; stays as it is until `release`.
  std::span<const transport::Sge> sges(std::uint32_t entry) const { return entries_[entry].sges; }
  std::uint64_t length(std::uint32_t entry) const { return entries_[entry].length; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    std::uint64_t tag = 0;
    std::uint64_t mask = 0;
    std::uint32_t next = kNone;
    std::uint32_t previous = kNone;
    State state = State::free;
    std::uint64_t length = 0;
    std::span<const transport::Sge> sges;
  };

  void unlink(std::uint32_t number);

  std::vector<Entry> entries_;
  std::uint32_t max_sges_;
  SlotCopies copies_;
  std::uint32_t first_ = kNone;
  std::uint32_t last_ = kNone;
  std::uint32_t first_waiting_ = kNone;  // it and all behind it
};

}  // namespace urnic::engine
