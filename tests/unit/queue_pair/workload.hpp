// Random work for a pair of queue pairs, and what must have come of it: every byte at its place, completions
// in order and once each, receives in the order of the messages, atomics executed exactly once.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/queue_pair/lossy_pair.hpp"

namespace urnic::transport::bench {

struct WorkloadSetup {
  std::uint32_t path_mtu = 256;
  std::uint32_t most_packets = 5;          // of one message
  std::uint32_t requests = 30;             // of each side
  bool late_receives = false;              // some receives are posted only when the peer has been refused
  std::array<RecoveryMode, 2> recovery{};  // of each side; gbn
};

// One side's requests towards the other. Each request has memory of its own at both ends.
class Workload {
 public:
  Workload(LossyPair& pair, std::size_t from, const WorkloadSetup& setup);

  static std::size_t memory_size(const WorkloadSetup& setup);

  void post_all();
  void post_receives(std::uint32_t count);
  std::uint32_t receives_missing() const {
    return static_cast<std::uint32_t>(receives_.size()) - posted_receives_;
  }

  // Empty if everything is as it must be, else what is not.
  std::string verdict() const;

 private:
  struct Expected {
    SendRequest request;
    std::uint32_t length = 0;
    std::uint64_t local = 0;
    std::uint64_t remote = 0;
    std::uint8_t seed = 0;
    std::uint64_t original = 0;  // of an atomic
    std::uint64_t written = 0;   // by an ATOMIC WRITE
    std::uint32_t receive = 0;   // index, if it takes one
  };
  struct ExpectedReceive {
    std::size_t request = 0;
    std::uint64_t address = 0;
    bool split = false;
  };

  void make_request(std::uint32_t position);
  void fill_memory(const Expected& expected);
  void expect_atomic(Expected& expected);
  std::uint64_t slot(std::uint32_t position) const;
  std::string check_memory(std::size_t position) const;
  std::string check_sends() const;
  std::string check_receives() const;
  std::uint64_t random(std::uint64_t below) { return pair_.chance()() % below; }

  LossyPair& pair_;
  Side& from_;
  Side& to_;
  WorkloadSetup setup_;
  std::size_t half_;
  std::uint64_t counters_[2] = {};  // what the two words for atomics must hold in the end
  std::vector<Expected> requests_;
  std::vector<ExpectedReceive> receives_;
  std::uint32_t posted_receives_ = 0;
};

}  // namespace urnic::transport::bench
