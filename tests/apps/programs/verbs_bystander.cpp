// Two QPs in ping-pong, and control requests beside them, for as long as something else goes on: how long
// does a message to and fro take, and a request (ibv_query_device), with and without the time in which the
// asking thread itself waited for a processor? All data are checked. Prints one JSON object at its end
// (SIGTERM, or after --seconds), of times in microseconds. Exit status 0 if nothing was wrong.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "command_line/command_line.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/threads.hpp"

namespace urnic::apps {
namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t told_to_end = 0;

struct Options {
  std::vector<std::string> devices{"urnic0", "urnic1"};
  std::size_t bytes = 64;
  double seconds = 0;  // 0: until it is told to
  unsigned pause_us = 500;
};

// Of many times: enough of them for the median and high percentiles, and the worst of all.
class Times {
 public:
  void add(Clock::duration time) {
    const double us = std::chrono::duration<double, std::micro>(time).count();
    worst_ = std::max(worst_, us);
    ++count_;
    if (kept_.size() < kKept) {
      kept_.push_back(us);
    } else if (count_ % (1 + count_ / kKept) == 0) {
      kept_[(next_ += 7919) % kKept] = us;
    }
  }
  std::string describe() {
    std::sort(kept_.begin(), kept_.end());
    const auto at = [&](double share) {
      return kept_.empty() ? 0
                           : kept_[static_cast<std::size_t>(share * static_cast<double>(kept_.size() - 1))];
    };
    return fmt::format(
        "{{\"count\": {}, \"median\": {:.2f}, \"p99\": {:.2f}, \"p99.9\": {:.2f}, \"worst\": {:.2f}}}",
        count_, at(0.5), at(0.99), at(0.999), worst_);
  }

 private:
  static constexpr std::size_t kKept = 200'000;
  std::vector<double> kept_;
  std::size_t next_ = 0;
  std::uint64_t count_ = 0;
  double worst_ = 0;
};

// Patient ones: on a machine whose processors have other things to do, a packet is late and not lost.
EndpointOptions patient() {
  EndpointOptions options;
  options.timeout = 19;
  return options;
}

void expect_success(const ibv_wc& completion) {
  require(completion.status == IBV_WC_SUCCESS, "a request ended with: {}",
          ibv_wc_status_str(completion.status));
}

class PingPong {
 public:
  explicit PingPong(const Options& options)
      : bytes_(options.bytes), pair_(patient(), {options.devices.at(0), options.devices.at(1)}) {}

  // There and back.
  void run(std::uint64_t round) {
    move(pair_.left, left_, pair_.right, right_, round);
    move(pair_.right, right_, pair_.left, left_, ~round);
  }
  ibv_context* context() const { return pair_.left_device.context(); }

 private:
  void move(Endpoint& from, Memory& source, Endpoint& to, Memory& target, std::uint64_t seed) {
    to.post_receive(seed, {target.segment(bytes_, bytes_)});
    fill(source.bytes(0, bytes_), seed);
    ibv_sge segment = source.segment(0, bytes_);
    from.post(send_request(segment));
    expect_success(to.wait_receive());
    expect_success(from.wait_send());
    const auto wrong = difference(target.bytes(bytes_, bytes_), seed);
    require(!wrong, "received data: {}", wrong.value_or(""));
  }

  std::size_t bytes_;
  Pair pair_;
  Memory left_{pair_.left_device.pd(), 2 * bytes_};
  Memory right_{pair_.right_device.pd(), 2 * bytes_};
};

// How long the calling thread has been ready to run without a processor (the second number of schedstat, see
// the kernel's sched-stats.rst). For one thread.
class OwnWaiting {
 public:
  OwnWaiting() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
    require(file_ >= 0, "/proc/thread-self/schedstat: {}", std::strerror(errno));
  }
  ~OwnWaiting() { close(file_); }
  OwnWaiting(const OwnWaiting&) = delete;
  OwnWaiting& operator=(const OwnWaiting&) = delete;

  Clock::duration so_far() const {
    char text[96] = {};
    std::uint64_t ran = 0, waited = 0;
    require(pread(file_, text, sizeof text - 1, 0) > 0 && std::sscanf(text, "%lu %lu", &ran, &waited) == 2,
            "/proc/thread-self/schedstat cannot be read");
    return std::chrono::nanoseconds(waited);
  }

 private:
  int file_;
};

struct RequestTimes {
  Times whole;
  Times without_own_waiting;  // what is left is the device process's share, and its own waiting
};

void ask(ibv_context* context, unsigned pause_us, const std::atomic<bool>& stop, RequestTimes& times) {
  const OwnWaiting waiting;
  while (!stop) {
    ibv_device_attr attributes{};
    const auto waited = waiting.so_far();
    const auto begin = Clock::now();
    require(ibv_query_device(context, &attributes) == 0, "ibv_query_device: {}", std::strerror(errno));
    const auto took = Clock::now() - begin;
    times.whole.add(took);
    times.without_own_waiting.add(took - std::min(took, waiting.so_far() - waited));
    usleep(pause_us);
  }
}

void stand_by(const Options& options) {
  PingPong pingpong(options);
  Times round_trips;
  RequestTimes requests;
  for (std::uint64_t round = 0; round < 100; ++round) pingpong.run(round);
  fmt::print(stderr, "running\n");
  Threads threads;
  threads.start([&] { ask(pingpong.context(), options.pause_us, threads.stop(), requests); });
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  for (std::uint64_t round = 0; told_to_end == 0 && !threads.failed(); ++round) {
    const auto begin = Clock::now();
    if (options.seconds > 0 && begin >= end) break;
    pingpong.run(round);
    round_trips.add(Clock::now() - begin);
  }
  threads.finish();
  fmt::print("{{\"round_trips\": {}, \"requests\": {}, \"requests_without_own_waiting\": {}}}\n",
             round_trips.describe(), requests.whole.describe(), requests.without_own_waiting.describe());
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app("Ping-pong and control requests, and how long they take",
                                       "verbs_bystander");
  urnic::apps::Options options;
  app.add_option("--devices", options.devices, "both ends are on").expected(2, 2).show_default();
  app.add_option("--bytes", options.bytes, "of a message").between(1, 1 << 20).show_default();
  app.add_option("--seconds", options.seconds, "after which it ends; 0: when it is told to").show_default();
  app.add_option("--pause-us", options.pause_us, "between two control requests").show_default();
  app.footer("Example: urnic run -- verbs_bystander --seconds 5");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  std::signal(SIGTERM, [](int) { urnic::apps::told_to_end = 1; });
  try {
    urnic::apps::stand_by(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "verbs_bystander: {}\n", error.what());
    return 1;
  }
}
