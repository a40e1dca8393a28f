// Tag matching of one SRQ: the operations that the program posts on its list of tagged buffers, the count of
// unexpected messages, and the CQ for all completions (ibv_post_srq_ops(3); abi/tag_matching.hpp).
//
// Device and program are in sync when the program has acknowledged (tag_operation_sync) all unexpected
// messages that were reported, and none is on its way to it. Out of sync, new buffers wait.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/engine/receives/tag_list.hpp"
#include "device_model/engine/rings/doorbell_target.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/tag_matching_headers.hpp"

namespace urnic::engine {

class CompletionQueue;
class SharedReceiveQueue;

struct TagMatchingConfig {
  SharedReceiveQueue* queue = nullptr;
  CompletionQueue* completions = nullptr;
  abi::TagOperation* operations = nullptr;
  std::uint32_t slots = 0;  // a power of two
  abi::TagMatchingIndices* indices = nullptr;
  std::uint32_t max_tags = 0;
};

class TagMatching final : public DoorbellTarget {
 public:
  // Any thread. Everything that `config` refers to outlives this, and this the QPs on the SRQ.
  explicit TagMatching(const TagMatchingConfig& config);

  // Engine thread only, from here on. Carries out posted operations.
  void doorbell() override;

  // For QPs. The buffer for a message with this tag; the caller has it until a completion with
  // tag_entry_done. Carries out posted operations first.
  std::optional<std::uint32_t> match(std::uint64_t tag);
  const TagList& buffers() const { return buffers_; }
  // The message of a matched buffer.
  struct Message {
    abi::TagInfo info{};
    wire::RendezvousHeader offer;
    wire::RendezvousFinish finish{};
  };
  Message& message(std::uint32_t entry) { return messages_[entry]; }

  // An unexpected message (no buffer has its tag) has taken an ordinary receive.
  void unexpected_began() { ++on_their_way_; }
  // That message is to be reported now, which counts. Returns the flags of its completion.
  std::uint8_t unexpected_arrives();
  // That message has failed.
  void unexpected_failed();

  // Writes a completion. `flags` are TagFlag values; tag_entry_done frees the entry. False if the CQ is full
  // and the completion lost.
  bool report(const transport::Completion& completion, std::uint8_t flags, const abi::TagInfo& info = {});

 private:
  bool look();
  void carry_out(std::uint32_t index);
  bool apply(const abi::TagOperation& operation, std::uint32_t index, transport::Completion& completion);
  std::uint8_t flags_after(const abi::TagOperation& operation) const;
  bool in_step() const { return on_their_way_ == 0 && told_ == reported_; }
  void follow() {
    if (in_step()) buffers_.admit();
  }

  const TagMatchingConfig config_;
  TagList buffers_;
  std::vector<Message> messages_;  // by entry
  std::uint32_t producer_ = 0;
  std::uint32_t consumed_ = 0;
  std::uint32_t on_their_way_ = 0;  // unexpected messages that are not reported yet
  std::uint32_t reported_ = 0;      // modulo 2^32, like `told_`
  std::uint32_t told_ = 0;          // how many the program has acknowledged
};

}  // namespace urnic::engine
