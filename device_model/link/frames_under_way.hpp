// What the engine asks of links between its batches: deliver what is due, and say when the next is.
#pragma once

#include <cstddef>
#include <optional>

#include "device_model/transport/time.hpp"

namespace urnic::link {

class FramesUnderWay {
 public:
  // Delivers frames that are due at `now`, about `most` at once; whether there were any.
  virtual bool deliver_due(transport::Time now, std::size_t most) = 0;
  virtual std::optional<transport::Time> next_due() const = 0;

 protected:
  ~FramesUnderWay() = default;
};

}  // namespace urnic::link
