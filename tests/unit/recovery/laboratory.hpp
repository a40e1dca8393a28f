// Two queue pairs and a link between them under virtual time, fast: several million packets a second, because
// payloads have no bytes and nothing is allocated per packet. For measuring goodput and the time that
// recovery takes; what lands where is checked by tests/unit/queue_pair.
//
// Side 0 makes the requests, side 1 answers; both can do both. A side sends one packet whenever its direction
// of the link is free and it has one, so nothing ever queues. Everything follows from the seed.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/unit/recovery/laboratory_end.hpp"
#include "tests/unit/transport_bench/two_ends.hpp"

namespace urnic::transport::lab {

class Laboratory : private bench::TwoEnds<LaboratoryEnd> {
 public:
  explicit Laboratory(const LaboratorySettings& settings);
  Laboratory(const Laboratory&) = delete;
  Laboratory& operator=(const Laboratory&) = delete;

  // Posts `count` more requests of `length` bytes at `side`. All requests that are not yet taken get this
  // shape.
  void post(std::size_t side, WorkOpcode opcode, std::uint32_t length, std::uint32_t count = 1);

  // Lets things happen until `done` is true (asked after every event), or nothing more will happen, or
  // `until` is reached. True if `done` was.
  bool run(const std::function<bool()>& done, Nanoseconds until = kNever);
  // As `run`, until `count` send requests of side 0 are complete, whatever their status.
  bool run_until_complete(std::uint64_t count, Nanoseconds until = kNever);
  // Until nothing is under way any more, or `until`. True if it is quiet.
  bool run_until_quiet(Nanoseconds until = kNever);

  // As `run_until_quiet`, but the clock goes on to `until` in any case.
  void wait_until(Nanoseconds until);

  Nanoseconds now() const { return time().time_since_epoch(); }
  using TwoEnds::events;
  using TwoEnds::link;
  QueuePair& queue_pair(std::size_t side) { return end(side).qp; }
  const Counters& counters(std::size_t side) const { return end(side).counters; }
  // Takes the queue pair through reset back to RTS.
  void reset(std::size_t side);

  // Of send requests, with success and without, and when the last was.
  std::uint64_t completed(std::size_t side) const { return end(side).completed; }
  std::uint64_t failed(std::size_t side) const { return end(side).failed; }
  WorkStatus first_failure(std::size_t side) const { return end(side).first_failure; }
  Nanoseconds last_completion(std::size_t side) const { return end(side).last_completion; }
  // Receive completions with success.
  std::uint64_t received(std::size_t side) const {
    return end(side).soft_roce != nullptr ? end(side).soft_roce->messages_received() : end(side).received;
  }

  // Side 1 if it is Soft-RoCE, else null.
  const SoftRoceResponder* soft_roce() const { return end(1).soft_roce.get(); }

  void observe(Observer* observer) { observer_ = observer; }

 private:
  void connect(std::size_t side);

  LaboratorySettings settings_;
  Observer* observer_ = nullptr;
};

}  // namespace urnic::transport::lab
