#include "provider/kernel/uverbs_map.hpp"

#include <errno.h>
#include <sys/mman.h>

#include <cstring>

#include "device_model/abi/uverbs_messages.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/uverbs_connection.hpp"

namespace urnic::kernel {

void* map_uverbs(int device, void* address, size_t length, int protection, int flags, off_t offset) {
  const int kept = errno;
  UverbsReply reply;
  abi::MapPagesReply place = {};
  int error = 0;
  {
    UverbsTurn turn(device, false);
    error = turn.error() == EOPNOTSUPP ? ENODEV : turn.error();
    abi::MapPagesRequest request = {};
    request.offset = static_cast<uint64_t>(offset);
    request.length = length;
    request.protection = static_cast<uint32_t>(protection);
    const iovec part = {&request, sizeof request};
    if (error == 0) error = turn.ask({abi::ControlOpcode::map_pages, &part, 1}, reply);
  }
  if (error == 0 && (reply.length != sizeof place || !reply.descriptors[0].valid())) error = EIO;
  if (error != 0) {
    errno = error;
    return MAP_FAILED;
  }
  std::memcpy(&place, reply.body, sizeof place);
  void* const mapped = real::mmap(address, length, protection, flags, reply.descriptors[0].get(),
                                  static_cast<off_t>(place.offset));
  if (mapped != MAP_FAILED) errno = kept;
  return mapped;
}

}  // namespace urnic::kernel
