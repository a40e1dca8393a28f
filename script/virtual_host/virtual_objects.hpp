// The objects of the program in a virtual host: what a script has made, by name.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/in_process/in_process_memory.hpp"
#include "device_model/in_process/queue_pair_end.hpp"
#include "device_model/in_process/shared_receives_end.hpp"
#include "script/call.hpp"

namespace urnic::script {

struct VirtualRegion {
  std::vector<std::byte> bytes;
  std::uint64_t address = 0;  // of the first byte, for users of the key
  transport::Lkey key;
};

struct VirtualWindow {
  wire::Rkey rkey;
};

struct VirtualSharedReceives {
  std::unique_ptr<in_process::CompletionQueueEnd> cq;  // of an XRC queue
  std::unique_ptr<in_process::SharedReceivesEnd> end;
  std::vector<std::uint64_t> wr_ids;  // by slot
  std::deque<std::uint32_t> free_slots;
};

struct VirtualQueuePair {
  Call made_by;  // with its attributes
  transport::QpService service = transport::QpService::rc;
  std::unique_ptr<in_process::QueuePairEnd> end;
  VirtualSharedReceives* shared_receives = nullptr;
  std::vector<std::uint64_t> send_ids;     // by the index of the request
  std::vector<std::uint64_t> receive_ids;  // by the index of the receive
  std::uint32_t sends_done = 0;            // as completions have told
  std::uint32_t receives_done = 0;
};

}  // namespace urnic::script
