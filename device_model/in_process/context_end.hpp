// A program's context on a device, without a control thread: what its queues need beside themselves.
#pragma once

#include <memory>

#include "device_model/abi/doorbells.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/in_process/event_pipe_end.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::in_process {

struct ContextEnd {
  // `on` outlives it. Throws std::system_error.
  explicit ContextEnd(engine::Device& on);

  engine::Device& device;
  transport::PdId pd{7};
  bool several_processes = false;
  EventPipeEnd channel{8};
  EventPipeEnd async_events{16};
  memory::Descriptor wake;
  std::unique_ptr<abi::Doorbells> doorbells;
  engine::DoorbellSet doorbell_set;
};

}  // namespace urnic::in_process
