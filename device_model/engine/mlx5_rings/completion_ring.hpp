// The ring of CQEs that libmlx5 reads (abi/mlx5/cqe.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/cqe.hpp"
#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "device_model/engine/completion/completion_clock.hpp"
#include "device_model/engine/completion/written_completions.hpp"
#include "device_model/engine/mlx5_rings/completed_queues.hpp"

namespace urnic::engine::mlx5 {

struct CompletionRingConfig {
  std::byte* ring = nullptr;
  std::uint32_t slots = 0;       // a power of two, at most kMostCqes
  std::uint32_t cqe_bytes = 64;  // or 128
  abi::mlx5::CompletionDoorbells* doorbells = nullptr;
  const CompletedQueues* queues = nullptr;
  // The clock that programs read, too; null: CQEs have the time 0. With it they all have a time, as on a
  // ConnectX, but an exact one only on demand: that costs a look at the clock for each.
  CompletionClock* clock = nullptr;
  bool exact_times = false;
};

// So that a consumer index, which has 24 bits, says how many CQEs are unread.
inline constexpr std::uint32_t kMostCqes = 1u << 22;

class CompletionRing final : public WrittenCompletions {
 public:
  // The memory outlives this. Stores to the doorbells that there is no request yet: so the program must not
  // request an event before this exists.
  explicit CompletionRing(const CompletionRingConfig& config);

  // A completion of a queue that is gone is dropped.
  bool write(const transport::Completion& completion, std::uint32_t shared_receive_queue) override;
  // libmlx5 is not told that the device matches tags; so none are matched for its QPs.
  bool write_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue, std::uint8_t,
                    const abi::TagInfo&) override {
    return write(completion, shared_receive_queue);
  }
  abi::ArmKind armed() override;
  void fired() override;
  bool is_behind() override;
  void requests_may_hide(bool may) override { may_hide_ = may; }
  bool wants_each_request() const override { return asked_ == Asked::both; }
  bool has_room_for_data() const override { return false; }
  CompletionIndices indices() const override;
  // Tells the program in the old memory that the new memory is next; it moves the unread CQEs itself. So the
  // first `move` ends it. The new memory has CQEs of the same size.
  void begin_move(void* ring, std::uint32_t slots) override;
  Moved move(std::uint32_t most) override;

 private:
  bool full();
  void read_consumer();
  // How many CQEs the program has not read, as `consumer`, 24 bits of an index, says.
  std::uint32_t unread(std::uint32_t consumer) const {
    return (producer_ - consumer) & abi::mlx5::kConsumerMask;
  }
  void put(abi::mlx5::Cqe& entry, abi::mlx5::CompletionOpcode opcode, bool solicited);
  abi::ArmKind see_request(std::uint32_t request);

  CompletionRingConfig config_;
  std::byte* new_ring_ = nullptr;
  std::uint32_t new_slots_ = 0;
  std::uint32_t producer_ = 0;
  std::uint32_t consumer_ = 0;       // as last read; read again only when the ring seems full
  std::uint32_t solicited_end_ = 0;  // behind the last CQE that is solicited
  std::uint32_t notified_end_ = 0;   // behind the last CQE of which there was an event
  std::uint32_t request_seen_ = abi::mlx5::kNoRequest;
  std::uint32_t number_answered_;  // of a request
  std::uint32_t number_of_any_;    // of the request for an event of any completion that was seen last
  // Of the request for an event of solicited completions that was seen last, and hid no other.
  std::uint32_t number_of_solicited_;
  bool may_hide_ = false;
  enum class Asked : std::uint8_t { nothing, any, both } asked_ = Asked::nothing;  // ever
};

}  // namespace urnic::engine::mlx5
