// Tag matching, as provider and device share it: the ring of operations on a tag-matching SRQ's list of
// tagged buffers, what its completions say, and the message that makes an SRQ such a one.
//
// A tagged buffer lies in an entry, which has a number below `max_tags`. The program chooses a number that is
// free, and has it back with the completion that says tag_entry_done, or when the device has removed it.
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
  tag_operation_sync = 1 << 1,  // `unexpected_count` is to be believed
};

inline constexpr std::uint32_t kMaxTagSge = 30;
inline constexpr std::uint32_t kNoTagEntry = UINT32_MAX;

// A slot of the ring. Outcome of `remove`: what `removed` holds once the operation is consumed.
struct TagOperation {
  std::uint8_t opcode;  // TagOpcode
  std::uint8_t flags;   // TagOperationFlag values
  std::uint16_t sge_count;
  std::uint32_t entry;             // add, remove; kNoTagEntry: of none that is there
  std::uint32_t unexpected_count;  // messages for which no tag was there, as far as the program has seen them
  std::uint32_t removed;           // written by the device, remove: 1 if the entry is free again
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

// Completions with an opcode from IBV_WC_TM_ADD to IBV_WC_TM_NO_TAG are those of a tag-matching SRQ and not
// of the QP that brought the message: they stay when that goes. All have cqe_shared_receive.
// `Cqe::tag_flags`:
enum TagFlag : std::uint8_t {
  tag_sync_required = 1 << 0,  // IBV_WC_TM_SYNC_REQ
  tag_matched = 1 << 1,        // IBV_WC_TM_MATCH
  tag_data_valid = 1 << 2,     // IBV_WC_TM_DATA_VALID
  tag_in_entry = 1 << 3,       // `wqe_index` is the number of an entry, else that of a slot of the SRQ
  tag_entry_done = 1 << 4,     // and the last completion of what is in it
};
inline constexpr std::uint8_t kFirstTagCompletion = 130;  // IBV_WC_TM_ADD
inline constexpr std::uint8_t kLastTagOperation = 132;    // IBV_WC_TM_SYNC: `wqe_index` counts operations
inline constexpr std::uint8_t kLastTagCompletion = 134;   // IBV_WC_TM_NO_TAG

inline bool is_tag_completion(const Cqe& cqe) {
  return cqe.opcode >= kFirstTagCompletion && cqe.opcode <= kLastTagCompletion;
}

// Of such a completion, at `inline_data` + kTagInfoOffset: ibv_wc_tm_info, where a match is reported; else 0.
struct TagInfo {
  std::uint64_t tag;
  std::uint32_t user_data;
  std::uint32_t reserved;
};
inline constexpr std::uint32_t kTagInfoOffset = 8;  // behind the timestamp
static_assert(kTagInfoOffset + sizeof(TagInfo) <= kCqeInlineBytes);

// create_tag_matching: makes of an SRQ that no QP is on, and that does not have it yet, a tag-matching SRQ.
// Goes with the SRQ.
struct CreateTagMatchingRequest {
  std::uint32_t srq;  // handle
  std::uint32_t cq;   // of all its completions
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
