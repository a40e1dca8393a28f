// Two whole queue pairs, each with its memory and host, joined by a link that loses, doubles and delays
// packets as a seed says. Virtual time: the same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/packets.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

namespace urnic::transport::requester_test {

// Chances in thousandths.
struct LinkFaults {
  std::uint32_t lose = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t delay = 0;  // some packets take up to ten times as long, so others overtake them
};

struct PairSetup {
  std::uint64_t seed = 1;
  LinkFaults faults;
  std::uint32_t path_mtu = 512;
  std::uint32_t window_packets = 32;
  std::uint8_t reads = 4;
  std::uint8_t retry_count = 7;
};

inline constexpr std::uint64_t kEndBase = 0x100000;
inline constexpr std::size_t kEndSize = 4u << 20;
inline constexpr std::uint32_t kEndKey = 0x55;

// One side: a queue pair and what stands around it.
struct End {
  End(std::uint32_t own_qpn, const PairSetup& setup);
  void connect(std::uint32_t peer_qpn, wire::Psn send_psn, wire::Psn receive_psn, const PairSetup& setup);

  bench::BenchMemory memory{kEndBase, kEndSize};
  bench::BenchKeys keys;
  bench::BenchSendQueue send_queue;
  bench::BenchReceiveQueue receive_queue;
  bench::RecordingHost host;
  Counters counters;
  QueuePair queue_pair;
};

class LossyPair {
 public:
  explicit LossyPair(const PairSetup& setup);

  End left;
  End right;
  Time now{};

  // Runs until nothing is under way or `limit` events have passed; false in the latter case.
  bool run(std::uint32_t limit = 2'000'000);
  // Calls `action` at `time`, between two events.
  void at(Time time, std::function<void()> action) { actions_.emplace(time, std::move(action)); }

 private:
  struct Flight {
    End* to;
    bench::Packet packet;
  };
  void work(End& end, End& peer);
  void put_on_link(End& to, const bench::Packet& packet);
  void fly(End& to, const bench::Packet& packet);
  bool chance(std::uint32_t thousandths) { return random_() % 1000 < thousandths; }
  void deliver(const Flight& flight);

  LinkFaults faults_;
  std::mt19937_64 random_;
  std::multimap<Time, Flight> flights_;
  std::multimap<Time, std::function<void()>> actions_;
};

}  // namespace urnic::transport::requester_test
