// A requester with everything around it, and the words that its tests are written in.
//
// After every input the bench does what an engine does: pumps, ends the batch, reports failed accesses, moves
// the QP to the error state when it failed. `hold` puts several inputs into one batch.
#pragma once

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "device_model/transport/requester/requester.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/packets.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

// Not in `bench`: the names of opcodes would meet those of the packet builders.
namespace urnic::transport::requester_test {

using namespace bench;
using wire::NakCode;
using wire::Operation;
using enum wire::Operation;
using std::chrono::microseconds;
using std::chrono::milliseconds;

inline constexpr std::uint32_t kFirstPsn = 1000;
inline constexpr std::uint32_t kKey = 0x77;     // all rights on the bench's memory
inline constexpr std::uint32_t kRkey = 0x9999;  // the peer's; nobody checks it here
inline constexpr std::uint64_t kBase = 0x10000;
inline constexpr std::uint64_t kRemote = 0x7F0000000000;

// What tests vary; the rest is fixed.
struct Setup {
  std::uint32_t first_psn = kFirstPsn;
  std::uint32_t path_mtu = 1024;
  std::uint32_t window_packets = 64;
  std::uint32_t congestion_window_packets = QpConfig{}.congestion_window_packets;
  std::uint32_t send_slots = 64;
  std::uint32_t max_message_size = 1u << 31;
  std::uint8_t max_reads = 4;
  std::uint8_t timeout = 1;  // 8192 ns
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  bool credits = false;  // true: end-to-end credits count from the start
  RecoverySettings recovery = {.mode = RecoveryMode::gbn};
};

class RequesterBench {
 public:
  explicit RequesterBench(const Setup& setup = {});

  // What the application does.
  std::uint32_t post(SendRequest request);
  // Fills opcode, one SGE of `length` bytes at kBase + `offset`, and what the opcode needs. Signaled.
  static SendRequest request(WorkOpcode opcode, std::uint32_t length, std::uint64_t offset = 0);
  std::uint32_t post(WorkOpcode opcode, std::uint32_t length, std::uint64_t offset = 0) {
    return post(request(opcode, length, offset));
  }

  // What the wire shows. PSNs are given relative to the first: packet 0 is the first ever sent.
  SentPacket expect(Operation operation, std::uint32_t packet);
  void expect_packets(Operation operation, std::uint32_t first, std::uint32_t last);
  void expect_silence();
  // What the peer sends, its PSN relative too.
  void inject(Packet packet);

  // Completions, in order.
  Completion expect_completion(std::uint32_t index, WorkStatus status = WorkStatus::success);
  void expect_no_completion();

  // Virtual time. Timers run at their own nanosecond.
  void advance(Nanoseconds span) { advance_to(now + span); }
  void advance_to(Time time);

  // Everything up to `release` is one batch.
  void hold() { held_ = true; }
  void release();

  void set_state(QpState state);  // leaves the requester alone, as QueuePair does for SQD and RTS
  bool failed() const { return shared.state == QpState::error; }
  // The timer's interval for this setup.
  Nanoseconds timeout() const { return Nanoseconds(4096ll << shared.parameters.timeout); }

  Counters counters;
  BenchMemory memory{kBase, 1 << 20};
  BenchKeys keys;
  BenchSendQueue queue;
  RecordingHost host;
  SharedState shared;
  Requester requester;
  Time now{};

 private:
  void run();
  void settle();

  std::uint32_t first_psn_;
  bool held_ = false;
};

// A string for failure messages.
std::string describe(const SentPacket& packet, std::uint32_t first_psn);

// `length` bytes of the pattern that the bench's memory holds from kBase on, beginning at `from`.
inline std::vector<std::byte> memory_pattern(std::size_t from, std::size_t length) {
  return pattern(length, 0, from);
}

}  // namespace urnic::transport::requester_test
