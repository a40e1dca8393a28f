// Where the requests for events of some queues pass, one after another. Closed, it keeps a program's next
// request until the device has seen it: the program's memory holds the last request only.
#pragma once

#include <cstdint>

namespace urnic::engine {

class RequestGate {
 public:
  RequestGate() = default;
  RequestGate(const RequestGate&) = delete;
  RequestGate& operator=(const RequestGate&) = delete;

  // The queues of `place` have their next requests seen, where that is possible.
  virtual void close(std::uint32_t place) = 0;

 protected:
  ~RequestGate() = default;
};

}  // namespace urnic::engine
