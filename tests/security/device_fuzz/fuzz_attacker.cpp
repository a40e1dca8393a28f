// A hostile process: programs that come and go, until it is killed or its time is over. Its actions follow
// from its seed; their effect on the device depends on how the threads take turns, too.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>

#include "command_line/command_line.hpp"
#include "tests/security/device_fuzz/program.hpp"
#include "tests/security/device_fuzz/scribbler.hpp"

namespace urnic::device_fuzz {
namespace {

constexpr std::size_t kPrograms = 6;

struct Options {
  std::string run_directory;
  std::string counts;
  std::uint64_t seed = 1;
  double seconds = 10;
  int device_process = 0;
};

// Forks a child, with a copy of everything, that joins a context, makes a few requests, and ends without
// notice.
void fork_and_join(Attack& attack) {
  if (attack.tokens.empty()) return;
  const pid_t child = fork();
  if (child != 0) return;
  Connection connection(attack.run_directory + "/dev/uverbs0", attack.counts);
  abi::JoinContextRequest join{};
  join.token = attack.tokens[attack.chance.below(attack.tokens.size())];
  join.version = abi::kControlVersion;
  std::vector<int> numbers;
  const auto identity = own_identity();
  for (const Descriptor& descriptor : identity) numbers.push_back(descriptor.get());
  if (connection.send(
          apps::control_message(abi::ControlOpcode::join_context, std::as_bytes(std::span(&join, 1)), 1),
          numbers)) {
    const auto answer = connection.receive();
    if (answer && answer->header.error == 0) ++attack.counts.joined;
    const abi::RegisterMrRequest region{attack.memory.address(), 4096, 0, attack.chance.any(attack.handles),
                                        1};
    connection.send(
        apps::control_message(abi::ControlOpcode::register_mr, std::as_bytes(std::span(&region, 1)), 2), {});
  }
  kill(getpid(), SIGKILL);
}

std::unique_ptr<Program> new_program(Attack& attack) {
  // Most of them on the bystander's devices.
  auto program = std::make_unique<Program>(
      attack, attack.chance.once_in(4) ? attack.chance.below(kDevices) : attack.chance.below(2));
  if (!attack.chance.once_in(4)) program->settle();
  return program;
}

void attack(const Options& options) {
  std::signal(SIGCHLD, SIG_IGN);  // children are not waited for
  Chance chance(options.seed);
  Targets targets;
  OddDescriptors odd(chance, options.device_process);
  OwnMemory memory(chance);
  Attack all{
      options.run_directory, open_counts(options.counts), chance, targets, odd, memory, {}, {}, {}, {}};
  Scribbler scribbler(targets, all.counts, options.seed + 1);
  std::vector<std::unique_ptr<Program>> programs(kPrograms);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(options.seconds);
  while (std::chrono::steady_clock::now() < end) {
    auto& program = programs[chance.below(programs.size())];
    if (program == nullptr || !program->is_open() || chance.once_in(300)) program = new_program(all);
    // The device process refused the connection. It does so for a while after a program that handed over
    // descriptors which block.
    if (!program->is_open()) usleep(10'000);
    for (std::uint32_t steps = chance.below(20); steps > 0 && program->is_open(); --steps) program->step();
    if (chance.once_in(400)) fork_and_join(all);
  }
}

}  // namespace
}  // namespace urnic::device_fuzz

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "A hostile program that attacks a device process; fuzz_device.py starts it", "fuzz_attacker");
  urnic::device_fuzz::Options options;
  bool names = false;
  app.add_option("--run-dir", options.run_directory, "of the device process");
  app.add_option("--counts", options.counts, "file that counts what was done");
  app.add_option("--seed", options.seed, "what it does follows from");
  app.add_option("--seconds", options.seconds, "after which it ends");
  app.add_option("--device-process", options.device_process, "its pid");
  app.add_flag("--names", names, "print the names of the counts, and end");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    if (names) {
      for (const char* name : urnic::device_fuzz::kCountNames) std::puts(name);
      return 0;
    }
    urnic::device_fuzz::attack(options);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fuzz_attacker: %s\n", problem.what());
    return 1;
  }
}
