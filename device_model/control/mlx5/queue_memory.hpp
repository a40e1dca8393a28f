// How a command that makes a queue gets at the memory that the program has made for it.
#pragma once

#include <cstdint>
#include <span>

#include "device_model/abi/uverbs_messages.hpp"
#include "device_model/control/mlx5/command.hpp"
#include "device_model/control/objects/queue_pages.hpp"

namespace urnic::control::mlx5 {

// What hold_queue_memory returns if the program must first put pages of the device's in the place of its own.
// A handler that gets this, or any other value but 0, returns it at once, and has changed nothing. The
// command comes again.
inline constexpr int kPagesFirst = -2;

struct QueueMemory {
  QueuePages::Range range;  // the program's addresses
  // Of a doorbell record: libmlx5 has set it to 0, as this does again. Another thread may have done so while
  // the record's page, which other queues' records are in, was exchanged; then its store is lost.
  bool is_record = false;
  HeldPages held{};  // the result: to be moved to the queue's object
};

// Holds the memory of all that a queue needs, at most QueuePages::kMostRanges. 0, kPagesFirst, kNotYet, or an
// errno: EFAULT for addresses that cannot be; EINVAL for a ring that does not begin at a multiple of 64
// bytes, for a record that does not at one of 8, and for memory that only partly is other queues', too;
// EOPNOTSUPP for memory that neither the program can exchange nor the device can map; ENOMEM by an exception.
// Call it when the command is found to be right, and before anything is changed.
int hold_queue_memory(Command& command, std::span<QueueMemory> wanted);

// For the functions of uverbs_command.cpp. What became of the pages that the last answer on the connection
// has offered.
void note_exchange(Session& session, bool shared);
// Fills in what the program is to do with pages: put those offered in place, or give back those that no queue
// has any more.
void describe_offered(Session& session, DescriptorExchange& descriptors, abi::UverbsCommandReply& reply);
void describe_returned(Session& session, DescriptorExchange& descriptors, abi::UverbsCommandReply& reply);

}  // namespace urnic::control::mlx5
