#include "provider/kernel/uverbs_map.hpp"

#include <errno.h>
#include <sys/mman.h>

#include "provider/kernel/device_pages.hpp"
#include "provider/kernel/uverbs_connection.hpp"

namespace urnic::kernel {

void* map_uverbs(int device, void* address, size_t length, int protection, int flags, off_t offset) {
  const int kept = errno;
  DevicePages pages = {device, address, length, protection, flags, offset};
  UverbsTurn turn(device, false);
  int error = turn.error() == EOPNOTSUPP ? ENODEV : turn.error();
  if (error == 0) error = map_device_pages(turn, pages);
  errno = error != 0 ? error : kept;
  return error != 0 ? MAP_FAILED : pages.address;
}

}  // namespace urnic::kernel
