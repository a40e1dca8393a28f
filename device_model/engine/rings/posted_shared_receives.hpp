// The device's end of a shared receive queue in memory that the program writes, as one face of the device
// lays it out: WQEs in numbered slots, and the order in which they were posted.
#pragma once

#include <cstdint>

#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Engine thread only, after construction.
class PostedSharedReceives {
 public:
  virtual ~PostedSharedReceives() = default;

  enum class Look : std::uint8_t {
    found,
    empty,
    lied,  // the program has written an impossible index
  };
  // The slot of the next posted WQE. The number comes from the program: any value.
  virtual Look next(std::uint32_t& slot) = 0;
  // How many are posted that `next` has not given.
  virtual Look count(std::uint32_t& posted) = 0;
  // Reads the WQE in a slot below `slot_count`. Sets all of `request` but its index and PD. The segments are
  // a private copy, valid until the slot is read again.
  virtual void read(std::uint32_t slot, transport::ReceiveRequest& request) = 0;
  virtual std::uint32_t slot_count() const = 0;
};

}  // namespace urnic::engine
