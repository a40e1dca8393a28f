// The members of a device's multicast groups (IBTA 10.5). Engine thread only.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "wire/identifiers.hpp"

namespace urnic::engine {

class QueuePairContext;

class MulticastGroups {
 public:
  // Attaching a member again has no effect.
  void attach(const wire::Gid& group, QueuePairContext& queue_pair);
  void detach(const wire::Gid& group, QueuePairContext& queue_pair);
  // From all groups.
  void remove(QueuePairContext& queue_pair);

  // In the order of attachment; valid until the next change.
  std::span<QueuePairContext* const> members(const wire::Gid& group) const;

 private:
  std::map<wire::Gid, std::vector<QueuePairContext*>> groups_;  // no group is empty
};

}  // namespace urnic::engine
