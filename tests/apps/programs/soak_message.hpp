// What a soak sends: the message of a lane follows from the run's seed, the lane and the message's number.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace urnic::apps {

enum class SoakOperation : std::uint8_t {
  send,
  send_with_immediate,
  send_with_invalidate,
  write,
  write_with_immediate,
  read,
  compare_swap,
  fetch_add,
  // Not drawn: what keeps the others going.
  bind_window,  // gives the peer a window that it can invalidate
  flush,        // an empty write, for its completion: it says that all requests before it are done
};
inline constexpr std::size_t kSoakOperations = 10;

const char* to_string(SoakOperation operation);
ibv_wr_opcode request_opcode(SoakOperation operation);
ibv_wc_opcode completion_opcode(SoakOperation operation);

constexpr bool is_send(SoakOperation operation) { return operation <= SoakOperation::send_with_invalidate; }
constexpr bool is_atomic(SoakOperation operation) {
  return operation == SoakOperation::compare_swap || operation == SoakOperation::fetch_add;
}
constexpr bool has_immediate(SoakOperation operation) {
  return operation == SoakOperation::send_with_immediate || operation == SoakOperation::write_with_immediate;
}
constexpr bool takes_receive(SoakOperation operation) {
  return is_send(operation) || operation == SoakOperation::write_with_immediate;
}
// Data goes from the responder to the requester.
constexpr bool fetches(SoakOperation operation) {
  return operation == SoakOperation::read || is_atomic(operation);
}

struct SoakMessage {
  SoakOperation operation = SoakOperation::flush;
  std::size_t length = 0;        // 1 byte to the run's limit
  std::size_t misalignment = 0;  // of its data in memory, below 64
  bool is_signaled = true;
  bool is_inline = false;
  bool through_window = false;  // a write with the window's key, if one is bound
  bool late_receive = false;    // its receive is posted after it, so that the peer may not be ready
  std::uint64_t chance = 0;     // for what else there is to draw; also the seed of the data's pattern
};

// A hash of the four numbers, each bit of which depends on each of theirs.
std::uint64_t soak_chance(std::uint64_t seed, std::uint64_t lane, std::uint64_t number,
                          std::uint64_t what = 0);

SoakMessage soak_message(std::uint64_t seed, std::uint64_t lane, std::uint64_t number, std::size_t longest);

}  // namespace urnic::apps
