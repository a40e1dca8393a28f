// The provider's own write ends of the completion channels' pipes. They keep readers from seeing an end of
// file when the device process dies, and carry the last events then (device_death.hpp).
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstdint>

#include "provider/plugin/freestanding/descriptor.hpp"

namespace urnic::provider {

struct ChannelWriter {
  ino_t inode;  // of the pipe: a channel's name towards the device
  std::uint32_t users;
  Descriptor descriptor;  // non-blocking
  ChannelWriter* next;
};

// One writer per channel, shared by the channel's CQs. Callers take turns.
class ChannelWriters {
 public:
  // Null with errno set if the channel's descriptor is not a pipe that can be opened for writing.
  ChannelWriter* acquire(const ibv_comp_channel& channel);
  void release(ChannelWriter* writer);

 private:
  ChannelWriter* first_ = nullptr;
};

}  // namespace urnic::provider
