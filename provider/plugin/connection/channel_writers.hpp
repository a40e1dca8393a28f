// The provider's own write ends of the completion channels' pipes. With them, readers see no end of file when
// the device process dies, and the provider can write the last events (device_death.hpp).
#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>

#include <cstdint>

#include "provider/freestanding/descriptor.hpp"

namespace urnic::provider {

struct ChannelWriter {
  ino_t inode;  // of the pipe; identifies the channel to the device
  std::uint32_t users;
  Descriptor descriptor;  // non-blocking
  ChannelWriter* next;
};

// One writer per channel, shared by the channel's CQs. Callers hold the context's `objects_lock`.
class ChannelWriters {
 public:
  // The channel's writer, for one more user. Null with errno set if the channel's descriptor is not a pipe
  // that can be opened for writing.
  ChannelWriter* acquire(const ibv_comp_channel& channel);
  // The last user's release closes and frees the writer. Null does nothing.
  void release(ChannelWriter* writer);

 private:
  ChannelWriter* first_ = nullptr;
};

}  // namespace urnic::provider
