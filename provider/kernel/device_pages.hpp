// Pages of the device in this process: libmlx5's doorbell pages, the clock, device memory.
//
// The device takes doorbell pages and the clock away at times, and watches for the process's next access
// (page_watch.hpp). A child of fork has no such watch: its access would put an empty page there, which wakes
// nobody, and hides the parent's next store. So it has private pages in their place, until it gives a
// command, and joins its parent's context: then it gets the device's pages, with watches of its own. A store
// before that is into a register of queues whose memory is the parent's; on a ConnectX it says nothing new,
// either.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace urnic::kernel {

class UverbsTurn;

// As mmap(2) of the device node `device` has them; `address` is null before.
struct DevicePages {
  int device;
  void* address;
  size_t length;
  int protection;
  int flags;
  off_t offset;
};

// Maps them; `pages.address` may wish for one. 0, and `pages.address` is where they are; or an errno, EINVAL:
// nothing is at that offset.
int map_device_pages(UverbsTurn& turn, DevicePages& pages);

// In a child of fork that has joined its parent's context: maps the pages of `device` that its parent had,
// where the child still has what the fork has put in their place. 0 or an errno.
int map_pages_of_parent(UverbsTurn& turn, int device);

}  // namespace urnic::kernel
