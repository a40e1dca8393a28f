// The two-copy limit: what one thread moves from one process to another when it reads a message with
// process_vm_readv into a buffer of its own and writes it from there with process_vm_writev, and does nothing
// else. A device process that is neither of the two cannot do better on one core. Prints one JSON object.
//
//   copy_limit [BYTES [SECONDS]]     size of a message (default 65536), length of the measurement (default
//   0.5)
#include <fmt/format.h>
#include <sys/uio.h>

#include <cerrno>
#include <chrono>

#include "tests/bench/other_process.hpp"

namespace {

using urnic::bench::OtherProcess;

// One message: as perftest does, always from the same place to the same place.
bool move_message(pid_t from, pid_t to, std::byte* there, std::byte* staging, std::size_t bytes) {
  const iovec here{staging, bytes};
  const iovec remote{there, bytes};
  return process_vm_readv(from, &here, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes) &&
         process_vm_writev(to, &here, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const long bytes = argc > 1 ? std::atol(argv[1]) : 65536;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.5;
  if (bytes <= 0 || seconds <= 0) {
    fmt::print(stderr, "copy_limit: BYTES and SECONDS must be numbers above 0\n");
    return 2;
  }
  const auto size = static_cast<std::size_t>(bytes);
  std::byte* there = urnic::bench::make_region(size);
  std::byte* staging = urnic::bench::make_region(size);
  const OtherProcess from(there, size);
  const OtherProcess to(there, size);

  std::size_t messages = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{};
  do {
    for (int i = 0; i < 16; ++i, ++messages) {
      if (move_message(from.pid(), to.pid(), there, staging, size)) continue;
      fmt::print(stderr, "copy_limit: not allowed here: {}\n", std::strerror(errno));
      return 1;
    }
    passed = std::chrono::steady_clock::now() - begin;
  } while (passed.count() < seconds);
  fmt::print("{{\"bytes\": {}, \"bytes_per_second\": {:.0f}}}\n", size,
             static_cast<double>(messages * size) / passed.count());
}
