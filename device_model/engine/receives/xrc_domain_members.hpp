// An XRC domain (IBTA annex A14): target QPs, and the shared receive queues that requests to them may name.
// QPs and queues may belong to different programs.
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::engine {

class SharedReceiveQueue;
class SharedReceiveTable;

// A target QP, as its domain sees it.
class XrcTarget {
 public:
  // The SRQ is being destroyed: the target takes nothing from it any more, and gives nothing back.
  virtual void forget(const SharedReceiveQueue& queue) = 0;

 protected:
  ~XrcTarget() = default;
};

class XrcDomain {
 public:
  // Any thread. `queues` are the device's; they outlive this, and this outlives all that is in it.
  explicit XrcDomain(const SharedReceiveTable& queues) : queues_(queues) {}
  XrcDomain(const XrcDomain&) = delete;
  XrcDomain& operator=(const XrcDomain&) = delete;

  // Engine thread only, from here on. The domain's SRQ with this number, or null.
  SharedReceiveQueue* find(std::uint32_t number) const;

  void add(XrcTarget& target);
  void remove(const XrcTarget& target);
  // Calls `forget` of all targets.
  void forget(const SharedReceiveQueue& queue);

 private:
  const SharedReceiveTable& queues_;
  std::vector<XrcTarget*> targets_;
};

}  // namespace urnic::engine
