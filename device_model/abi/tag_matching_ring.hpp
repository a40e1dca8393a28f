// Tag matching: the ring of operations on a tag-matching SRQ's list of tagged buffers, what the SRQ's
// completions say, and the message that turns an SRQ into a tag-matching SRQ.
//
// A tagged buffer is an entry with a number below `max_tags`. The provider chooses a free number. The number
// is free again with the completion that says tag_entry_done, or when the device has removed the entry.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/queues.hpp"

namespace urnic::abi {

// The values are those of ibv_ops_wr_opcode.
enum class TagOpcode : std::uint8_t { add = 0, remove = 1, sync = 2 };

// The values are those of ibv_ops_flags.
enum TagOperationFlag : std::uint8_t {
  tag_operation_signaled = 1 << 0,
  tag_operation_sync = 1 << 1,  // `unexpected_count` is valid
};

inline constexpr std::uint32_t kMaxTagSge = 30;
inline constexpr std::uint32_t kNoTagEntry = UINT32_MAX;

// A slot of the ring. Once a `remove` is consumed, `removed` holds its outcome.
struct TagOperation {
  std::uint8_t opcode;  // TagOpcode
  std::uint8_t flags;   // TagOperationFlag values
  std::uint16_t sge_count;
  std::uint32_t entry;             // of add and remove; kNoTagEntry: an entry that does not exist
  std::uint32_t unexpected_count;  // messages without a matching tag that the program has seen
  std::uint32_t removed;           // written by the device for `remove`: 1 if the entry is free again
  std::uint64_t tag;
  std::uint64_t mask;
  ScatterGather sges[kMaxTagSge];
};
static_assert(sizeof(TagOperation) == 512);

// The control words of the ring. A slot is the program's again once `consumed` has passed it.
struct TagMatchingIndices {
  alignas(64) std::atomic<std::uint32_t> producer;  // written by the provider
  alignas(64) std::atomic<std::uint32_t> consumed;  // written by the device
};
static_assert(sizeof(TagMatchingIndices) == 128);

// Completions with an opcode from IBV_WC_TM_ADD to IBV_WC_TM_NO_TAG belong to a tag-matching SRQ, not to the
// QP that received the message: they stay when the QP is destroyed. All have cqe_shared_receive.
// `Cqe::tag_flags`:
enum TagFlag : std::uint8_t {
  tag_sync_required = 1 << 0,  // IBV_WC_TM_SYNC_REQ
  tag_matched = 1 << 1,        // IBV_WC_TM_MATCH
  tag_data_valid = 1 << 2,     // IBV_WC_TM_DATA_VALID
  tag_in_entry = 1 << 3,       // `wqe_index` is the number of an entry, else of a slot of the SRQ
  tag_entry_done = 1 << 4,     // and this is the last completion of the entry
};
inline constexpr std::uint8_t kFirstTagCompletion = 130;  // IBV_WC_TM_ADD
inline constexpr std::uint8_t kLastTagOperation = 132;    // IBV_WC_TM_SYNC: `wqe_index` counts operations
inline constexpr std::uint8_t kLastTagCompletion = 134;   // IBV_WC_TM_NO_TAG

inline bool is_tag_completion(const Cqe& cqe) {
  return cqe.opcode >= kFirstTagCompletion && cqe.opcode <= kLastTagCompletion;
}

// ibv_wc_tm_info, at `inline_data` + kTagInfoOffset of such a completion; 0 unless it reports a match.
struct TagInfo {
  std::uint64_t tag;
  std::uint32_t user_data;
  std::uint32_t reserved;
};
inline constexpr std::uint32_t kTagInfoOffset = 8;  // behind the timestamp
static_assert(kTagInfoOffset + sizeof(TagInfo) <= kCqeInlineBytes);

// create_tag_matching: turns an SRQ that no QP uses into a tag-matching SRQ, if it is none yet. The tag
// matching is destroyed with the SRQ.
struct CreateTagMatchingRequest {
  std::uint32_t srq;  // handle
  std::uint32_t cq;   // gets all completions of the SRQ
  std::uint32_t max_tags;
  std::uint32_t max_operations;
};
// `operations` holds `operation_slots` slots, a power of two.
struct CreateTagMatchingReply {
  ArenaRange operations;
  ArenaRange indices;  // TagMatchingIndices
  std::uint32_t operation_slots;
  std::uint32_t doorbell;
};

}  // namespace urnic::abi
