// The program's end of a pipe of events: a completion channel or a context's asynchronous events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::in_process {

class EventPipeEnd {
 public:
  // `record` is 8 or 16 bytes, as EventPipe takes it. Throws std::system_error.
  explicit EventPipeEnd(std::size_t record);

  engine::EventPipe& device_end() { return *pipe_; }

  struct Record {
    std::uint64_t element = 0;
    std::uint32_t type = 0;
  };
  // The next record; empty if there is none: it does not wait.
  std::optional<Record> read();
  int read_descriptor() const { return read_end_.get(); }
  void close_read_end() { read_end_.reset(); }

 private:
  std::size_t record_;
  memory::Descriptor read_end_;
  std::unique_ptr<engine::EventPipe> pipe_;
};

}  // namespace urnic::in_process
