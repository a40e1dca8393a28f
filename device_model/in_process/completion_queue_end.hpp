// The program's end of a completion queue: polled as the provider does it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/completion/completion_queue.hpp"

namespace urnic::in_process {

// A CQE, copied out.
struct PolledCompletion {
  std::uint32_t qpn = 0;
  std::uint32_t wqe_index = 0;
  std::uint8_t opcode = 0;
  std::uint8_t status = 0;
  std::uint8_t flags = 0;
  std::uint8_t tag_flags = 0;
  std::uint32_t byte_length = 0;
  std::uint32_t immediate_or_rkey = 0;
  std::uint32_t source_qpn = 0;
  std::uint32_t error_or_route = 0;
  std::array<std::uint8_t, abi::kCqeInlineBytes> inline_data{};
};

class CompletionQueueEnd {
 public:
  // `slots` is a power of two. The pipes, which may be null, outlive it.
  CompletionQueueEnd(std::uint32_t slots, engine::EventPipe* channel, engine::EventPipe* async_events,
                     std::uint64_t user_handle);

  std::optional<PolledCompletion> poll();
  void arm(abi::ArmKind kind);

  std::vector<abi::Cqe> ring;
  abi::CompletionQueueIndices indices{};
  std::uint32_t slots;
  std::uint32_t consumer = 0;
  std::unique_ptr<engine::CompletionQueue> device_end;

 private:
  std::uint32_t requests_ = 0;
};

}  // namespace urnic::in_process
