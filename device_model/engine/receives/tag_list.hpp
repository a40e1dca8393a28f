// The tagged buffers of a tag-matching SRQ, in the order of posting: a message gets the first buffer whose
// tag equals the message's under the buffer's mask (ibv_post_srq_ops(3)).
//
// While the program may not know of an unexpected message, new buffers wait behind the others until the two
// are in sync again: that message might be theirs.
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

  // The state of an entry's buffer: none, in the list, or taken by a message.
  enum class State : std::uint8_t { free, listed, matched };

  // Appends a buffer; `waits`: it is matched only after `admit`. Copies the segments at `sges`. False, with
  // nothing done, if the entry is not free or there are too many segments.
  bool add(std::uint32_t entry, std::uint64_t tag, std::uint64_t mask, const std::byte* sges,
           std::uint32_t sge_count, bool waits);
  // Removes a buffer from the list and frees its entry. False if it is not in the list.
  bool remove(std::uint32_t entry);
  // Gives the first matching buffer to the caller, until `release`; skips waiting buffers.
  std::optional<std::uint32_t> match(std::uint64_t tag);
  void release(std::uint32_t entry) { entries_[entry].state = State::free; }
  // All waiting buffers become matchable.
  void admit() { first_waiting_ = kNone; }
  bool any_waiting() const { return first_waiting_ != kNone; }

  // Of a matched buffer; unchanged until `release`.
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
  std::uint32_t first_waiting_ = kNone;  // this one and all behind it wait
};

}  // namespace urnic::engine
