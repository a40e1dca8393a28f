// Two queue pairs and a link between them under virtual time, fast: several million packets a second, because
// payloads have no bytes and nothing is allocated per packet. For measuring goodput and the time that
// recovery takes; what lands where is checked by tests/unit/queue_pair.
//
// Side 0 makes the requests, side 1 answers; both can do both. A side sends one packet whenever its direction
// of the link is free and it has one, so nothing ever queues. Everything follows from the seed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "tests/unit/recovery/link.hpp"
#include "tests/unit/recovery/picoseconds.hpp"
#include "tests/unit/recovery/uniform_queues.hpp"
#include "tests/unit/recovery/weightless_memory.hpp"

namespace urnic::transport::lab {

struct LaboratorySettings {
  // Of the two directions, by the side that sends.
  std::array<LinkSettings, 2> links;
  // Of the two sides. What a responder keeps and a requester offers follows from them.
  std::array<RecoverySettings, 2> recovery;
  std::uint32_t path_mtu = 1024;
  std::uint32_t window_packets = 16384;  // of requester and responder
  std::uint32_t send_slots = 128;
  std::uint8_t max_reads = 16;
  std::uint8_t timeout = 8;  // local ACK timeout code, 8: 1.05 ms
  std::uint8_t retry_count = 7;
  wire::Psn first_psn;
  std::uint64_t seed = 1;
};

// One mode and one link for both sides.
LaboratorySettings symmetric(RecoveryMode mode, const LinkSettings& link);

// Sees everything that happens, as it happens.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void sent(std::size_t /*from*/, const wire::TransportHeaders&, std::uint32_t /*payload*/,
                    Link::Fate, Picoseconds /*now*/) {}
  virtual void arrived(std::size_t /*at*/, const Flight&, Picoseconds /*now*/) {}
  virtual void completed(std::size_t /*at*/, const Completion&, Picoseconds /*now*/) {}
  virtual void timer(std::size_t /*at*/, Picoseconds /*now*/) {}
};

class Laboratory {
 public:
  explicit Laboratory(const LaboratorySettings& settings);
  ~Laboratory();
  Laboratory(const Laboratory&) = delete;
  Laboratory& operator=(const Laboratory&) = delete;

  // Posts `count` more requests of `length` bytes at `side`. All requests that are not yet taken get this
  // shape.
  void post(std::size_t side, WorkOpcode opcode, std::uint32_t length, std::uint32_t count = 1);

  // Lets things happen until `done` is true (asked after every event), or nothing more will happen, or
  // `until` is reached. True if `done` was.
  bool run(const std::function<bool()>& done, Picoseconds until = kNever);
  // As `run`, until `count` send requests of side 0 are complete, whatever their status.
  bool run_until_complete(std::uint64_t count, Picoseconds until = kNever);
  // Until nothing is under way any more, or `until`. True if it is quiet.
  bool run_until_quiet(Picoseconds until = kNever);

  // As `run_until_quiet`, but the clock goes on to `until` in any case.
  void wait_until(Picoseconds until);

  Picoseconds now() const { return now_; }
  Link& link(std::size_t from) { return links_[from]; }
  QueuePair& queue_pair(std::size_t side);
  const Counters& counters(std::size_t side) const;
  // Takes the queue pair through reset back to RTS.
  void reset(std::size_t side);

  // Of send requests, with success and without, and when the last was.
  std::uint64_t completed(std::size_t side) const;
  std::uint64_t failed(std::size_t side) const;
  WorkStatus first_failure(std::size_t side) const;
  Picoseconds last_completion(std::size_t side) const;
  std::uint64_t received(std::size_t side) const;  // receive completions with success
  std::uint64_t events() const { return events_; }

  void observe(Observer* observer) { observer_ = observer; }

 private:
  class End;
  friend class End;

  bool step(Picoseconds until);
  void deliver(std::size_t from);
  void connect(std::size_t side);

  LaboratorySettings settings_;
  std::array<Link, 2> links_;
  std::array<std::unique_ptr<End>, 2> ends_;
  Picoseconds now_{0};
  std::uint64_t events_ = 0;
  std::uint32_t events_at_once_ = 0;
  Observer* observer_ = nullptr;
};

}  // namespace urnic::transport::lab
