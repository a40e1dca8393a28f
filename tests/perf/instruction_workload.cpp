// Runs one workload for callgrind, which counts the instructions below `urnic_measured_section`, and prints
// how many packets and messages that section has moved.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "tests/perf/workloads.hpp"

namespace {

using urnic::perf::Workload;

// More rounds than any workload needs: a workload that does not end is an error.
constexpr std::uint64_t kMostSteps = 1'000'000;
// Shortest round of a real engine: packets that arrive during a round are handled in the next.
constexpr urnic::transport::Nanoseconds kRound{1000};
constexpr urnic::transport::Time kStart{urnic::transport::Nanoseconds(1'000'000'000)};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "instruction_workload: %s\n", what);
  std::exit(1);
}

// Moves the clock from each due event to the next until none is left. Returns the number of moves.
std::uint64_t work_off(urnic::engine::test::Fabric& fabric) {
  urnic::engine::DataPath& data_path = fabric.engine.data_path();
  for (std::uint64_t steps = 1; steps < kMostSteps; ++steps) {
    fabric.run();
    const auto next = data_path.wake_at();
    if (!next) return steps;
    data_path.set_now(std::max(*next, data_path.now() + kRound));
  }
  fail("the workload does not end");
}

std::uint64_t packets_of(const Workload& workload) {
  return workload.fabric.device0.port_counters().transmitted_packets +
         workload.fabric.device1.port_counters().transmitted_packets;
}

void run_batch(Workload& workload, std::uint64_t (*section)(urnic::engine::test::Fabric&)) {
  workload.post();
  section(workload.fabric);
  if (!workload.take_completions()) fail("a completion is missing, or tells of an error");
}

std::uint64_t measured_steps = 0;

}  // namespace

// Callgrind turns the counting on and off by this function's name. The addition keeps the call from becoming
// a jump, which would end the section at once.
extern "C" [[gnu::noinline]] std::uint64_t urnic_measured_section(urnic::engine::test::Fabric& fabric) {
  return measured_steps += work_off(fabric);
}

int main(int count, char** arguments) {
  if (count != 2) fail("usage: instruction_workload NAME");
  const std::unique_ptr<Workload> workload = urnic::perf::make_workload(arguments[1]);
  if (workload == nullptr) fail("no workload has this name");
  workload->fabric.engine.data_path().set_now(kStart);
  run_batch(*workload, work_off);
  const std::uint64_t packets_before = packets_of(*workload);
  for (std::uint32_t batch = 0; batch < workload->batches; ++batch) {
    run_batch(*workload, urnic_measured_section);
  }
  if (!workload->arrived()) fail("the data are not what was sent");
  const std::uint64_t messages = std::uint64_t{workload->messages} * workload->batches;
  std::printf("{\"packets\": %llu, \"messages\": %llu}\n",
              static_cast<unsigned long long>(packets_of(*workload) - packets_before),
              static_cast<unsigned long long>(messages));
}
