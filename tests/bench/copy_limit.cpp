// Measures the two-copy limit: how fast one thread moves data from one process to another if it does nothing
// else. The thread reads with process_vm_readv into its own buffer and writes from there with
// process_vm_writev, in pieces of the device process's size. A device process separate from both cannot be
// faster on one core. With --mapped: the limit if the device process had programs' memory mapped. Prints one
// JSON object.
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "command_line/command_line.hpp"
#include "tests/bench/other_process.hpp"

namespace {

using urnic::bench::OtherProcess;

// The engine's size: a gathered piece stays in the second-level cache until it is scattered.
constexpr std::size_t kAtATime = 128 * 1024;

enum class Mapped { none, source, both };

struct Ends {
  pid_t from, to;
  std::byte* source;       // in `from`; also at this address here, if mapped
  std::byte* destination;  // in `to`; also at this address here, if mapped
  std::byte* staging;      // kAtATime bytes
};

bool move_piece(const Ends& ends, Mapped mapped, std::size_t at, std::size_t bytes) {
  const iovec staging{mapped == Mapped::none ? ends.staging : ends.source + at, bytes};
  const iovec source{ends.source + at, bytes};
  const iovec destination{ends.destination + at, bytes};
  const auto whole = static_cast<ssize_t>(bytes);
  if (mapped == Mapped::both) {
    std::memcpy(ends.destination + at, ends.source + at, bytes);
    return true;
  }
  if (mapped == Mapped::none && process_vm_readv(ends.from, &staging, 1, &source, 1, 0) != whole)
    return false;
  return process_vm_writev(ends.to, &staging, 1, &destination, 1, 0) == whole;
}

// Moves one message. Like perftest, always uses the same source and the same destination.
bool move_message(const Ends& ends, Mapped mapped, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kAtATime) {
    if (!move_piece(ends, mapped, at, std::min(kAtATime, bytes - at))) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t bytes = 65536;
  double seconds = 0.5;
  std::string whose = "none";
  urnic::command_line::CommandLine app("What copying from one process to another by a third one costs",
                                       "copy_limit");
  app.add_option("--bytes", bytes, "size of a message").between(1, 1 << 30);
  app.add_option("--seconds", seconds, "length of the measurement").positive();
  app.add_option("--mapped", whose, "whose memory is in our own address space too: none, source, both")
      .one_of({"none", "source", "both"});
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  const Mapped mapped = whose == "both" ? Mapped::both : whose == "source" ? Mapped::source : Mapped::none;

  using urnic::bench::make_region, urnic::bench::make_shared_region;
  std::byte* const source = mapped == Mapped::none ? make_region(bytes) : make_shared_region(bytes);
  std::byte* const destination = mapped == Mapped::both ? make_shared_region(bytes) : make_region(bytes);
  const OtherProcess from(source, bytes);
  const OtherProcess to(destination, bytes);
  const Ends ends{from.pid(), to.pid(), source, destination, make_region(kAtATime)};

  std::size_t messages = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::duration<double> passed{};
  do {
    for (int i = 0; i < 16; ++i, ++messages) {
      if (move_message(ends, mapped, bytes)) continue;
      fmt::print(stderr, "copy_limit: not allowed here: {}\n", std::strerror(errno));
      return 1;
    }
    passed = std::chrono::steady_clock::now() - begin;
  } while (passed.count() < seconds);
  fmt::print("{{\"bytes\": {}, \"bytes_per_second\": {:.0f}}}\n", bytes,
             static_cast<double>(messages * bytes) / passed.count());
}
