// RDMA writes on many QPs in turn, one write on each. The number of outstanding writes is the same for one QP
// and for thousands, so only the number of QPs makes a difference. Prints one JSON object.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <vector>

#include "command_line/command_line.hpp"
#include "tests/apps/programs/memory.hpp"
#include "tests/apps/programs/requests.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/bench/connections.hpp"

namespace urnic::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::size_t connections = 1;
  std::size_t bytes = 4096;
  std::size_t under_way = 128;
  double seconds = 2;
};

// The send queue's size: twice an even share, because QPs do not complete in step.
std::uint32_t room(const Options& options) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(2 * options.under_way / options.connections, 4));
}

class Turns {
 public:
  explicit Turns(const Options& options)
      : options_(options),
        room_(room(options)),
        all_({options.connections, room_, static_cast<int>(options.under_way)}),
        source_(all_.from_device().pd(), options.bytes * options.under_way),
        target_(all_.to_device().pd(), options.bytes * options.under_way),
        under_way_on_(options.connections) {}

  const Connections& connections() const { return all_; }

  // Writes per second, measured over `seconds`.
  double measure(double seconds) {
    const auto begin = Clock::now();
    const std::uint64_t before = completed_;
    std::chrono::duration<double> passed{};
    do {
      for (int i = 0; i < 64; ++i) step();
      passed = Clock::now() - begin;
    } while (passed.count() < seconds);
    return static_cast<double>(completed_ - before) / passed.count();
  }

  // Waits for outstanding writes, so that the QPs are idle when they are destroyed.
  void finish() {
    const auto deadline = Clock::now() + apps::kPatience;
    while (under_way_ > 0) {
      collect();
      apps::require(Clock::now() < deadline, "{} writes have not completed", under_way_);
    }
  }

 private:
  void step() {
    while (under_way_ < options_.under_way && under_way_on_[next_] < room_) post();
    collect();
  }

  void post() {
    // The same places in the same buffers for any number of QPs, so that the caches hold the same data.
    const std::size_t place = posted_++ % options_.under_way * options_.bytes;
    ibv_sge segment = source_.segment(place, options_.bytes);
    ibv_send_wr request =
        apps::rdma_request(IBV_WR_RDMA_WRITE, segment, target_.address(place), target_.rkey(), next_);
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(all_.from(next_), &request, &bad);
    apps::require(error == 0, "ibv_post_send: {}", std::strerror(error));
    ++under_way_;
    ++under_way_on_[next_];
    next_ = next_ + 1 == all_.count() ? 0 : next_ + 1;
  }

  void collect() {
    std::array<ibv_wc, 32> completions;
    const int count = ibv_poll_cq(all_.from_cq(), static_cast<int>(completions.size()), completions.data());
    apps::require(count >= 0, "ibv_poll_cq returned {}", count);
    for (int i = 0; i < count; ++i) {
      const ibv_wc& completion = completions[i];
      apps::require(completion.status == IBV_WC_SUCCESS, "QP {}: {}", completion.wr_id,
                    ibv_wc_status_str(completion.status));
      --under_way_on_[completion.wr_id];
    }
    under_way_ -= static_cast<std::size_t>(count);
    completed_ += static_cast<std::uint64_t>(count);
  }

  Options options_;
  std::uint32_t room_;
  Connections all_;
  apps::Memory source_;
  apps::Memory target_;
  std::vector<std::uint32_t> under_way_on_;  // by connection
  std::size_t under_way_ = 0;
  std::size_t next_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
};

void run(const Options& options) {
  Turns turns(options);
  turns.measure(options.seconds / 4);  // warm-up: every QP gets a turn or two
  const double rate = turns.measure(options.seconds);
  turns.finish();
  fmt::print("{{\"connections\": {}, \"bytes\": {}, \"per_second\": {:.1f}}}\n", options.connections,
             options.bytes, rate);
}

}  // namespace
}  // namespace urnic::bench

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app("RDMA writes from urnic0 to urnic1 on many QPs that take turns",
                                       "turns");
  urnic::bench::Options options;
  app.add_option("--connections", options.connections, "that take turns").between(1, 32768).show_default();
  app.add_option("--bytes", options.bytes, "of each write").between(1, 1 << 20).show_default();
  app.add_option("--under-way", options.under_way, "writes, on all QPs together")
      .between(1, 4096)
      .show_default();
  app.add_option("--seconds", options.seconds, "length of the measurement")
      .between(0.1, 600.0)
      .show_default();
  app.footer("Example: urnic run -- turns --connections 256");
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    urnic::bench::run(options);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "turns: {}\n", problem.what());
    return 1;
  }
}
