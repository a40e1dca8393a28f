// A device's steering rules (ibv_create_flow): which frames that arrive are for which raw packet QPs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/steering/frame_headers.hpp"

namespace urnic::engine {

class QueuePairContext;
class ReceiveSpreading;

// A frame matches if it has the headers that `layers` names and agrees with `value` in every bit of `mask`.
struct FrameMatch {
  FrameFields value;  // zero outside of `mask`
  FrameFields mask;
  std::uint8_t layers = 0;

  bool takes(const FrameHeaders& frame) const;
  friend bool operator==(const FrameMatch&, const FrameMatch&) = default;
};

// In the order in which they are asked.
enum class RuleKind : std::uint8_t {
  sniffer,            // has a copy of every frame that it may see
  normal,             // what matches
  multicast_default,  // frames to group addresses, of those that nobody else is to have
  all_default,        // any of those
};

// What rules have taken.
struct RuleCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

// Who gets a frame: one queue pair, or the one that a hash of the frame's fields chooses.
struct SteeringTarget {
  QueuePairContext* queue_pair = nullptr;       // null: `spreading`
  const ReceiveSpreading* spreading = nullptr;  // outlives its rule, as the queue pair does
  RuleCounters* counters = nullptr;             // may be null; outlives its rule, too
};

// The program's context that a RoCE packet is for; no context has `kSeveralContexts`, the packets to a
// multicast group have it.
using PacketOwner = std::uint32_t;
inline constexpr PacketOwner kSeveralContexts = ~PacketOwner{0};

struct SteeringRule {
  RuleKind kind = RuleKind::normal;
  std::uint16_t priority = 0;  // a lower number is asked first
  bool passes_on = false;  // frames go on to rules of higher numbers as well (IBV_FLOW_ATTR_FLAGS_DONT_TRAP)
  FrameMatch match;        // of normal rules
  // Of sniffers: they see the packets for the queue pairs of this context and no other. Empty: of all.
  std::optional<PacketOwner> sees_only;
  SteeringTarget target;
};

// Engine thread only.
class SteeringTable {
 public:
  bool empty() const { return rules_.empty(); }
  // There are rules that ask for what nobody else is to have.
  bool has_defaults() const {
    return !rules_.empty() && rules_.back().rule.kind >= RuleKind::multicast_default;
  }

  // Returns the number by which `remove` knows it. Allocates.
  std::uint32_t add(const SteeringRule& rule);
  // All of these, which are in order, in one pass.
  void remove(std::span<const std::uint32_t> numbers);

  // Adds to `targets` whom the rules of these kinds, from `first` to `last`, give the frame; true if it goes
  // no further. `owner`: of the queue pairs that the frame is for, if there are any. The first rule that
  // takes a frame keeps it, with those of the same priority that are exactly like it. `targets` has room for
  // as many as there are rules; see `reserve`.
  bool steer(const FrameHeaders& frame, RuleKind first, RuleKind last, std::vector<SteeringTarget>& targets,
             std::optional<PacketOwner> owner = {}) const;
  // So that `steer` need not allocate.
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
