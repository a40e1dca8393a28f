// One ordered stream of a QP's actions (its requester's or its responder's), as the batch tracks it.
#pragma once

#include <cstdint>
#include <limits>

#include "device_model/transport/host.hpp"

namespace urnic::memory {
class ApplicationMemory;
}  // namespace urnic::memory

namespace urnic::engine {

class QueuePairContext;

struct ActionStream {
  static constexpr std::uint32_t kNotFailed = std::numeric_limits<std::uint32_t>::max();

  QueuePairContext* queue_pair = nullptr;
  transport::Stream stream = transport::Stream::requester;

  // The action list that holds a memory access of this stream.
  std::uint64_t list_with_access = 0;
  // The stretches of that list (memory_batch.hpp) in which the stream has written, and done an atomic: an
  // access that must see these waits for the next stretch.
  std::uint64_t stretch_with_write = 0;
  std::uint64_t stretch_with_atomic = 0;
  // Where it has written last, if it has in this stretch. Memories of their own are written one after the
  // other: what goes to another one waits for the next stretch, too.
  const memory::ApplicationMemory* written = nullptr;

  // Position of the first memory access that failed, in the list that is being carried out.
  std::uint32_t failed_at = kNotFailed;
  transport::AccessTag failed_tag;

  // The access at `index` failed. True if it is the first known failure of this stream.
  bool fail(std::uint32_t index, const transport::AccessTag& tag) {
    const bool first = failed_at == kNotFailed;
    if (index < failed_at) {
      failed_at = index;
      failed_tag = tag;
    }
    return first;
  }

  // An action that was emitted when the list held `accesses` memory accesses comes after the failed one.
  bool discards(std::uint32_t accesses) const { return accesses > failed_at; }
};

}  // namespace urnic::engine
