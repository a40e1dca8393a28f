// An XRC domain (IBTA annex A14): target QPs, and the shared receive queues that requests to them may name.
// The QPs may be of other programs than the queues.
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::engine {

class Device;
class QueuePairContext;
class SharedReceiveQueue;

class XrcDomain {
 public:
  // Any thread. `device` outlives this, and this all that is in it.
  explicit XrcDomain(Device& device) : device_(device) {}
  XrcDomain(const XrcDomain&) = delete;
  XrcDomain& operator=(const XrcDomain&) = delete;

  // Engine thread only, from here on. The SRQ of this number, if it is in the domain; or null.
  SharedReceiveQueue* find(std::uint32_t number) const;

  void add(QueuePairContext& target) { targets_.push_back(&target); }
  void remove(const QueuePairContext& target);
  // The queue goes: no target takes from it any more, or gives anything back.
  void forget(const SharedReceiveQueue& queue);

 private:
  Device& device_;
  std::vector<QueuePairContext*> targets_;
};

}  // namespace urnic::engine
