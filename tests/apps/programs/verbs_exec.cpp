// A program that becomes another one by exec while a peer writes to its memory: what the peer writes must not
// come to lie in the new program. Says how often it did.
//
// Usage: verbs_exec COUNT          the peer, which starts the others
//        verbs_exec target IN OUT  opens a device, and becomes the next
// The next is exec_heir, beside it.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <span>
#include <string>

#include "tests/apps/programs/endpoint.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 64 * 1024;

// Where no program has anything by itself, but for exec_heir.
std::byte* const kPlace = reinterpret_cast<std::byte*>(std::uintptr_t{0x3000'0000});

std::span<std::byte> take_place() {
  void* const pages = mmap(kPlace, kLength, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);
  require(pages == kPlace, "memory at a fixed place");
  return {kPlace, kLength};
}

struct Introduction {
  QpAddress address;
  std::uint32_t rkey = 0;
};

template <class Value>
void tell(int pipe, const Value& value) {
  require(write(pipe, &value, sizeof value) == sizeof value, "a pipe to another program");
}
template <class Value>
Value hear(int pipe) {
  Value value{};
  require(read(pipe, &value, sizeof value) == sizeof value, "another program says nothing");
  return value;
}

void wait_for_write(std::span<const std::byte> place) {
  const volatile std::byte& last = place.back();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (last == std::byte{0}) {
    require(std::chrono::steady_clock::now() < end, "nobody writes");
    usleep(100);
  }
}

[[noreturn]] void be_target(const char* self, int in, int out) {
  const Device device(device_names().second);
  const std::span<std::byte> place = take_place();
  ibv_mr* const mr = ibv_reg_mr(device.pd(), place.data(), place.size(), kAllAccess);
  require(mr != nullptr, "memory cannot be registered");
  Endpoint endpoint(device, {});
  tell(out, Introduction{endpoint.address(), mr->rkey});
  endpoint.connect(hear<QpAddress>(in));
  wait_for_write(place);
  // A name that is not there first: a program in whose exec nothing comes goes on as before.
  execl("/nowhere", "/nowhere", nullptr);
  place.back() = std::byte{0};
  wait_for_write(place);
  const std::string heir = std::filesystem::read_symlink(self).replace_filename("exec_heir");
  execl(heir.c_str(), heir.c_str(), std::to_string(out).c_str(), nullptr);
  throw std::runtime_error("exec");
}

bool write_during_exec(const char* self, const Device& device, const Memory& source) {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  require(pipe(down.data()) == 0 && pipe(up.data()) == 0, "pipes");
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) {
    execl(self, self, "target", std::to_string(down[0]).c_str(), std::to_string(up[1]).c_str(), nullptr);
    _exit(127);
  }
  EndpointOptions options;
  options.timeout = 12;  // so that the end comes soon, and not before it
  Endpoint endpoint(device, options);
  const auto target = hear<Introduction>(up[0]);
  endpoint.connect(target.address);
  tell(down[1], endpoint.address());
  ibv_sge segment = source.segment(0, kLength);
  const auto place = reinterpret_cast<std::uintptr_t>(kPlace);
  for (int i = 0; i < 8; ++i) endpoint.post(rdma_request(IBV_WR_RDMA_WRITE, segment, place, target.rkey));
  while (endpoint.wait_send().status == IBV_WC_SUCCESS) {
    endpoint.post(rdma_request(IBV_WR_RDMA_WRITE, segment, place, target.rkey));
  }
  const bool touched = hear<bool>(up[0]);
  waitpid(child, nullptr, 0);
  for (const int end : {down[0], down[1], up[0], up[1]}) close(end);
  return touched;
}

void be_peer(const char* self, int count) {
  const Device device(device_names().first);
  const Memory source(device.pd(), kLength);
  std::fill_n(source.data(), kLength, std::byte{0xEE});
  int touched = 0;
  for (int i = 0; i < count; ++i) touched += write_during_exec(self, device, source) ? 1 : 0;
  fmt::print("{} of {} were written to\n", touched, count);
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "target" && argc == 4)
      urnic::apps::be_target(argv[0], std::atoi(argv[2]), std::atoi(argv[3]));
    urnic::apps::be_peer("/proc/self/exe", std::atoi(what.c_str()));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
