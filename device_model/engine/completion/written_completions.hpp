// The device's end of a completion queue in memory that the program reads. Each face of the device lays the
// queue out in its own way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Where a CQ is in use now, for people who watch it.
struct CompletionIndices {
  std::uint32_t slots = 0;
  std::uint32_t producer = 0;
  std::uint32_t consumer = 0;  // as the program has written it: any number
};

// Engine thread only, after construction.
class WrittenCompletions {
 public:
  virtual ~WrittenCompletions() = default;

  // Writes a CQE; false if the queue is full. `shared_receive_queue`: the number of the SRQ whose slot
  // `completion.wqe_index` is; 0: none.
  virtual bool write(const transport::Completion& completion, std::uint32_t shared_receive_queue) = 0;
  // As `write`, for tag matching: `flags` are abi::TagFlag values.
  virtual bool write_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                            std::uint8_t flags, const abi::TagInfo& info) = 0;

  // Which completion the program wants an event for; none if its last request was answered by `fired`.
  virtual abi::ArmKind armed() = 0;
  // The request that `armed` saw last is answered.
  virtual void fired() = 0;
  // The program has a request (`armed`) and CQEs that it had not read when it made the request.
  virtual bool is_behind() { return false; }
  // Whether from now on the program's next request may take the place of one that the device has not seen.
  virtual void requests_may_hide(bool) {}
  // The program makes requests of both kinds: so the device must see each of them.
  virtual bool wants_each_request() const { return false; }

  // Whether a received message may travel in the CQE.
  virtual bool has_room_for_data() const = 0;
  virtual CompletionIndices indices() const = 0;

  // Moves unread CQEs to other memory: CompletionQueue::begin_move.
  enum class Moved : std::uint8_t { more, all, does_not_fit };
  virtual void begin_move(void* ring, std::uint32_t slots) = 0;
  virtual Moved move(std::uint32_t most) = 0;
};

}  // namespace urnic::engine
