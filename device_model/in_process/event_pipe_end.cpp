#include "device_model/in_process/event_pipe_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace urnic::in_process {

EventPipeEnd::EventPipeEnd(std::size_t record) : record_(record) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  read_end_ = memory::Descriptor(ends[0]);
  pipe_ = std::make_unique<engine::EventPipe>(memory::Descriptor(dup(ends[0])), memory::Descriptor(ends[1]),
                                              record);
}

std::optional<EventPipeEnd::Record> EventPipeEnd::read() {
  std::byte bytes[16]{};
  if (::read(read_end_.get(), bytes, record_) != static_cast<ssize_t>(record_)) return std::nullopt;
  Record record;
  std::memcpy(&record.element, bytes, 8);
  std::memcpy(&record.type, bytes + 8, 4);
  return record;
}

}  // namespace urnic::in_process
