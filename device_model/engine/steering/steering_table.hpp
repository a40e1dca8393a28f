// A device's steering rules (ibv_create_flow): which arriving frames go to which raw packet QPs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/steering/frame_headers.hpp"

namespace urnic::engine {

class QueuePairContext;
class RssTable;

// A frame matches if it has the headers in `layers` and equals `value` in all bits of `mask`.
struct FrameMatch {
  FrameFields value;  // zero outside of `mask`
  FrameFields mask;
  std::uint8_t layers = 0;

  bool takes(const FrameHeaders& frame) const;
  friend bool operator==(const FrameMatch&, const FrameMatch&) = default;
};

// In the order of evaluation.
enum class RuleKind : std::uint8_t {
  sniffer,            // gets a copy of every frame that it may see
  normal,             // gets frames that match
  multicast_default,  // gets frames to group addresses that no other rule or QP takes
  all_default,        // gets all frames that no other rule or QP takes
};

// Frames that rules have taken.
struct RuleCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

// The receiver of a frame: one queue pair, the one that a hash of the frame's fields chooses, or nobody.
struct SteeringTarget {
  QueuePairContext* queue_pair = nullptr;  // null: `rss_table`
  const RssTable* rss_table = nullptr;     // outlives its rule, like the queue pair
  RuleCounters* counters = nullptr;        // may be null; outlives its rule
  // Frames that the receiver's own program has sent by this device do not come back to it.
  bool hides_own_unicast = false;
  bool hides_own_groups = false;

  bool drops() const { return queue_pair == nullptr && rss_table == nullptr; }
};

// The context that a RoCE packet is for; `kSeveralContexts`, which no context has, for packets to a multicast
// group.
using PacketOwner = std::uint32_t;
inline constexpr PacketOwner kSeveralContexts = ~PacketOwner{0};

struct SteeringRule {
  RuleKind kind = RuleKind::normal;
  std::uint16_t priority = 0;  // lower numbers are evaluated first
  bool passes_on = false;  // frames go on to rules of higher numbers as well (IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
  FrameMatch match;        // of normal rules
  // Sniffers see packets for queue pairs of this context only. Empty: of all contexts.
  std::optional<PacketOwner> sees_only;
  SteeringTarget target;
};

// Engine thread only.
class SteeringTable {
 public:
  bool empty() const { return rules_.empty(); }
  // There are default rules.
  bool has_defaults() const {
    return !rules_.empty() && rules_.back().rule.kind >= RuleKind::multicast_default;
  }

  // Returns the rule's number, for `remove`. Allocates.
  std::uint32_t add(const SteeringRule& rule);
  // Removes all of these, which are in ascending order, in one pass.
  void remove(std::span<const std::uint32_t> numbers);

  // Appends to `targets` the receivers that the rules of the kinds `first` to `last` choose; true if the
  // frame goes no further. `owner`: of the frame's queue pairs, if it has any. The first rule that takes a
  // frame keeps it, with identical rules of the same priority. `targets` has room for one entry per rule; see
  // `reserve`.
  bool steer(const FrameHeaders& frame, RuleKind first, RuleKind last, std::vector<SteeringTarget>& targets,
             std::optional<PacketOwner> owner = {}) const;
  // Reserves, so that `steer` does not allocate.
  void reserve(std::vector<SteeringTarget>& targets) const { targets.reserve(rules_.size()); }

 private:
  struct Entry {
    SteeringRule rule;
    std::uint32_t number;
  };

  std::vector<Entry> rules_;  // by kind, then priority, then age
  std::uint32_t next_number_ = 0;
};

}  // namespace urnic::engine
