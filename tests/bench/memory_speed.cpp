// Measures this machine's memory: memcpy within a process, and the two ways into another process, with the
// sizes of a small message, a packet and a large message. Prints a JSON array of measurements.
//
//   memory_speed [SECONDS]     the duration of each measurement (default 0.3)
#include <fcntl.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "device_model/memory/mem_file_memory.hpp"
#include "device_model/memory/vm_process_memory.hpp"
#include "tests/bench/other_process.hpp"

namespace {

using urnic::bench::OtherProcess;
using urnic::memory::ApplicationMemory;
using urnic::memory::Descriptor;
using urnic::memory::Transfer;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRegion = std::size_t{64} << 20;
constexpr std::size_t kSizes[] = {64, 4096, 65536};

struct Measurement {
  std::string what;
  std::size_t bytes;
  double nanoseconds;  // for one operation
};

// The mean duration of `operation`, called with 0, 1, 2, ...
double nanoseconds_of(double seconds, const std::function<void(std::size_t)>& operation) {
  constexpr std::size_t kStride = 64;
  for (std::size_t i = 0; i < kStride; ++i) operation(i);
  const auto begin = Clock::now();
  std::size_t count = 0;
  std::chrono::duration<double, std::nano> passed{};
  do {
    for (std::size_t i = 0; i < kStride; ++i) operation(count++);
    passed = Clock::now() - begin;
  } while (passed.count() < seconds * 1e9);
  return passed.count() / static_cast<double>(count);
}

Descriptor mem_of(const OtherProcess& process) {
  return Descriptor(open(("/proc/" + std::to_string(process.pid()) + "/mem").c_str(), O_RDWR | O_CLOEXEC));
}

// Copies from one buffer, which stays in the cache like the device's, to places in `spread` bytes of memory.
void measure_memcpy(double seconds, std::byte* here, std::byte* there, std::size_t spread,
                    const std::string& name, std::vector<Measurement>& results) {
  for (const std::size_t size : kSizes) {
    const std::size_t places = spread / size;
    results.push_back({name, size, nanoseconds_of(seconds, [&](std::size_t i) {
                         std::memcpy(there + (i % places) * size, here, size);
                         asm volatile("" ::"r"(there) : "memory");
                       })});
  }
}

void measure_way(double seconds, ApplicationMemory& memory, std::byte* here, std::byte* there,
                 std::vector<Measurement>& results) {
  const auto base = reinterpret_cast<std::uintptr_t>(there);
  for (const std::size_t size : kSizes) {
    const std::size_t places = (std::size_t{1} << 20) / size;
    const auto transfer = [&](std::size_t i) { return Transfer{base + (i % places) * size, {here, size}}; };
    bool failed = false;
    const std::string name = memory.way();
    results.push_back({name + " read", size, nanoseconds_of(seconds, [&](std::size_t i) {
                         Transfer batch[] = {transfer(i)};
                         memory.read(batch);
                         failed = failed || batch[0].failed;
                       })});
    results.push_back({name + " write", size, nanoseconds_of(seconds, [&](std::size_t i) {
                         Transfer batch[] = {transfer(i)};
                         memory.write(batch);
                         failed = failed || batch[0].failed;
                       })});
    if (!failed) continue;
    std::fprintf(stderr, "memory_speed: %s: not allowed here\n", name.c_str());
    results.resize(results.size() - 2);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0.3;
  if (seconds <= 0) {
    std::fprintf(stderr, "memory_speed: SECONDS must be a number above 0\n");
    return 2;
  }
  std::byte* here = urnic::bench::make_region(kRegion);
  std::byte* there = urnic::bench::make_region(kRegion);
  const OtherProcess other(there, kRegion);
  std::vector<Measurement> results;
  measure_memcpy(seconds, here, there, std::size_t{1} << 20, "memcpy, within the cache", results);
  measure_memcpy(seconds, here, there, kRegion, "memcpy, to main memory", results);
  urnic::memory::VmProcessMemory by_number(other.pid(), mem_of(other));
  measure_way(seconds, by_number, here, there, results);
  urnic::memory::MemFileMemory by_mem_file(mem_of(other));
  measure_way(seconds, by_mem_file, here, there, results);

  const char* separator = "[\n";
  for (const Measurement& m : results) {
    std::printf("%s  {\"what\": \"%s\", \"bytes\": %zu, \"ns\": %.1f}", separator, m.what.c_str(), m.bytes,
                m.nanoseconds);
    separator = ",\n";
  }
  std::printf("\n]\n");
}
