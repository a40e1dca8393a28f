// Which of a device's QPs are attached to which multicast groups (IBTA 10.5). Engine thread only.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "wire/identifiers.hpp"

namespace urnic::engine {

class QueuePairContext;

class MulticastGroups {
 public:
  // Who attaches twice is attached once.
  void attach(const wire::Gid& group, QueuePairContext& queue_pair);
  void detach(const wire::Gid& group, QueuePairContext& queue_pair);
  // From all groups.
  void remove(QueuePairContext& queue_pair);

  // In the order in which they attached; valid until the next change.
  std::span<QueuePairContext* const> members(const wire::Gid& group) const;

 private:
  std::map<wire::Gid, std::vector<QueuePairContext*>> groups_;  // none is empty
};

}  // namespace urnic::engine
