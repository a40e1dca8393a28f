// A well-behaved program for the time in which something bad happens around it: transfers and checks every
// byte until it is told to end (SIGTERM). Says "running" once it does, and at the end how much was
// transferred.
//
// Usage: verbs_neighbour [DEVICE DEVICE]. Exit status 0 if everything was right until the end.
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>

#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"

namespace urnic::apps {
namespace {

constexpr std::size_t kLength = 30'011;

volatile std::sig_atomic_t told_to_end = 0;

void expect_success(const ibv_wc& completion) {
  require(completion.status == IBV_WC_SUCCESS, "a request ended with: {}",
          ibv_wc_status_str(completion.status));
}

// One message of each kind: a write, a read of what was written, and a send.
class Rounds {
 public:
  explicit Rounds(const DeviceNames& names) : pair_(EndpointOptions{}, names) {}

  void run(std::uint64_t round) {
    fill(source_.bytes(0, kLength), round);
    ibv_sge segment = source_.segment(0, kLength);
    pair_.left.post(rdma_request(IBV_WR_RDMA_WRITE, segment, target_.address(), target_.rkey()));
    expect_success(pair_.left.wait_send());
    expect_pattern(target_, round, "written");

    ibv_sge into = result_.segment(0, kLength);
    pair_.left.post(rdma_request(IBV_WR_RDMA_READ, into, target_.address(), target_.rkey()));
    expect_success(pair_.left.wait_send());
    expect_pattern(result_, round, "read");

    fill(source_.bytes(0, kLength), ~round);
    pair_.right.post_receive(round, {target_.segment(0, kLength)});
    pair_.left.post(send_request(segment));
    expect_success(pair_.left.wait_send());
    expect_success(pair_.right.wait_receive());
    expect_pattern(target_, ~round, "received");
  }

 private:
  static void expect_pattern(const Memory& memory, std::uint64_t seed, const char* how) {
    const auto wrong = difference(memory.bytes(0, kLength), seed);
    require(!wrong, "{} data: {}", how, wrong.value_or(""));
  }

  Pair pair_;
  Memory source_{pair_.left_device.pd(), kLength};
  Memory result_{pair_.left_device.pd(), kLength};
  Memory target_{pair_.right_device.pd(), kLength};
};

void transfer(const DeviceNames& names) {
  Rounds rounds(names);
  std::uint64_t round = 0;
  for (; told_to_end == 0; ++round) {
    rounds.run(round);
    if (round == 0) {
      fmt::print("running\n");
      std::fflush(stdout);
    }
  }
  fmt::print("{} rounds\n", round);
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  std::signal(SIGTERM, [](int) { urnic::apps::told_to_end = 1; });
  try {
    urnic::apps::transfer(argc == 3 ? urnic::apps::DeviceNames{argv[1], argv[2]}
                                    : urnic::apps::DeviceNames{"urnic0", "urnic1"});
  } catch (const std::exception& error) {
    fmt::print(stderr, "verbs_neighbour: {}\n", error.what());
    return 1;
  }
  return 0;
}
