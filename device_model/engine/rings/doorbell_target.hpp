// A target of a doorbell other than a queue pair.
#pragma once

namespace urnic::engine {

class DoorbellTarget {
 public:
  // Its doorbell was rung.
  virtual void doorbell() = 0;

 protected:
  ~DoorbellTarget() = default;
};

}  // namespace urnic::engine
