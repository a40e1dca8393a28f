// Mixed traffic for as long as one likes, over whatever the links do to it: all operations of reliable
// connections, on many QPs, in both directions, 1 byte to 1 MiB. Checks every byte where it arrives, that
// completions come in order and each once, and that no QP stands still.
//
// Usage: verbs_soak --seconds N [--seed S] [DEVICE DEVICE]. What is sent follows from the seed, which it
// prints. Exit status 0 if everything was right until the end; else it says what was not, and on which QP.
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "command_line/command_line.hpp"
#include "tests/apps/programs/require.hpp"
#include "tests/apps/programs/soak_lane.hpp"

namespace urnic::apps {
namespace {

struct Options {
  std::uint64_t seed = 0;
  unsigned seconds = 10;
  std::size_t connections = 64;
  std::size_t longest = std::size_t{1} << 20;
  unsigned timeout = 14;   // of the QPs: 67 ms
  unsigned patience = 30;  // seconds without any completion on a QP
  std::vector<std::string> devices{"urnic0", "urnic1"};
};

constexpr std::array kMtus{IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096};

using LaneTable = std::unordered_map<std::uint32_t, SoakLane*>;  // by QP number

// One device with a completion queue for the sends of all its QPs and one for their receives.
struct Side {
  Side(const std::string& name, std::size_t qps) : device(name) {
    send_cq = create_cq(static_cast<int>(qps * SoakLane::kSendRequests));
    receive_cq = create_cq(static_cast<int>(qps * SoakLane::kReceives));
  }

  CqOwner create_cq(int entries) const {
    CqOwner cq(ibv_create_cq(device.context(), entries, nullptr, nullptr, 0));
    require(cq != nullptr, "no completion queue of {} entries: {}", entries, std::strerror(errno));
    return cq;
  }

  Device device;
  CqOwner send_cq;
  CqOwner receive_cq;
  LaneTable requests_of;  // the lane that a QP sends on
  LaneTable receives_of;  // and the one that it receives on
};

EndpointOptions endpoint_options(const Options& options, std::uint64_t connection) {
  const std::uint64_t chance = soak_chance(options.seed, connection, ~std::uint64_t{0});
  EndpointOptions endpoint;
  endpoint.mtu = kMtus[chance % kMtus.size()];
  endpoint.capacity = {SoakLane::kSendRequests, SoakLane::kReceives, 1, 1, 64};
  // Half of them come to PSN 0 soon.
  if (chance >> 63 != 0) endpoint.first_psn = static_cast<std::uint32_t>(chance >> 32) & 0xFFFFFF;
  endpoint.timeout = static_cast<std::uint8_t>(options.timeout);
  return endpoint;
}

// Two QPs, and a lane each way. Each lane has memory of its own at both ends.
struct Connection {
  Connection(const Options& options, std::uint64_t number, Side& one, Side& other)
      : size(SoakLane::area_size(options.longest)),
        one_out(one.device.pd(), size, kAccess),
        one_in(one.device.pd(), size, kAccess),
        other_out(other.device.pd(), size, kAccess),
        other_in(other.device.pd(), size, kAccess),
        one_end(one.device, endpoint_options(options, number), one.send_cq.get(), one.receive_cq.get()),
        other_end(other.device, endpoint_options(options, number), other.send_cq.get(),
                  other.receive_cq.get()),
        one_window(one.device.pd(), one_in),
        other_window(other.device.pd(), other_in),
        there({options.seed, 2 * number, options.longest}, {one_end, one_out, one_window},
              {other_end, other_in, other_window}),
        back({options.seed, 2 * number + 1, options.longest}, {other_end, other_out, other_window},
             {one_end, one_in, one_window}) {
    one_end.connect(other_end.address());
    other_end.connect(one_end.address());
    one.requests_of[one_end.qp()->qp_num] = &there;
    other.receives_of[other_end.qp()->qp_num] = &there;
    other.requests_of[other_end.qp()->qp_num] = &back;
    one.receives_of[one_end.qp()->qp_num] = &back;
  }

  static constexpr int kAccess = kAllAccess | IBV_ACCESS_MW_BIND;
  const std::size_t size;
  Memory one_out, one_in, other_out, other_in;
  Endpoint one_end, other_end;
  SoakWindow one_window, other_window;
  SoakLane there, back;
};

class Soak {
 public:
  explicit Soak(const Options& options)
      : options_(options),
        one_(options.devices.front(), options.connections),
        other_(options.devices.back(), options.connections) {
    for (std::uint64_t i = 0; i < options.connections; ++i) {
      connections_.push_back(std::make_unique<Connection>(options, i, one_, other_));
      lanes_.push_back(&connections_.back()->there);
      lanes_.push_back(&connections_.back()->back);
    }
  }

  void run() {
    const auto begin = SoakClock::now();
    const auto end = begin + std::chrono::seconds(options_.seconds);
    auto next_report = begin + kReportEvery;
    for (bool is_idle = false; !is_idle;) {
      const auto now = SoakClock::now();
      is_idle = turn(now, now < end);
      if (now < next_report) continue;
      next_report += kReportEvery;
      report(now - begin);
    }
    check_end();
    report(SoakClock::now() - begin);
  }

 private:
  static constexpr std::chrono::seconds kReportEvery{10};

  // Whether all has ended.
  bool turn(SoakClock::time_point now, bool goes_on) {
    bool is_idle = !goes_on;
    // A machine that stood still for a while is no sign of a QP that does.
    if (now - last_turn_ > std::chrono::seconds(1)) {
      for (SoakLane* lane : lanes_) lane->wait_anew(now);
    }
    last_turn_ = now;
    for (SoakLane* lane : lanes_) {
      lane->post_more(goes_on);
      lane->check_progress(now, std::chrono::seconds(options_.patience));
      is_idle = is_idle && lane->is_idle();
    }
    take_completions();
    return is_idle;
  }

  bool take_completions() {
    bool any = false;
    for (Side* side : {&one_, &other_}) {
      any |= take(side->send_cq.get(), side->requests_of, &SoakLane::sent);
      any |= take(side->receive_cq.get(), side->receives_of, &SoakLane::received);
    }
    return any;
  }

  bool take(ibv_cq* cq, const LaneTable& lanes, void (SoakLane::*handle)(const ibv_wc&)) {
    std::array<ibv_wc, 64> completions;
    const int count = ibv_poll_cq(cq, static_cast<int>(completions.size()), completions.data());
    require(count >= 0, "ibv_poll_cq returned {}", count);
    for (int i = 0; i < count; ++i) {
      const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
      const auto lane = lanes.find(completion.qp_num);
      require(lane != lanes.end(), "a completion of a QP 0x{:06x} that there is not", completion.qp_num);
      if (completion.status == IBV_WC_WR_FLUSH_ERR) report_cause(completion.qp_num);
      (lane->second->*handle)(completion);
    }
    return count > 0;
  }

  // A request that was flushed says nothing of the one for which its QP failed; that one's completion may lie
  // in another queue.
  void report_cause(std::uint32_t flushed) {
    const auto end = SoakClock::now() + std::chrono::seconds(1);
    while (SoakClock::now() < end) {
      for (const Side* side : {&one_, &other_}) {
        for (ibv_cq* cq : {side->send_cq.get(), side->receive_cq.get()}) report_failed(*side, cq);
      }
    }
    fmt::print(stderr, "verbs_soak: QP 0x{:06x} was flushed\n", flushed);
  }

  static void report_failed(const Side& side, ibv_cq* cq) {
    ibv_wc completion{};
    if (ibv_poll_cq(cq, 1, &completion) != 1) return;
    if (completion.status == IBV_WC_SUCCESS || completion.status == IBV_WC_WR_FLUSH_ERR) return;
    fmt::print(stderr, "verbs_soak: {} QP 0x{:06x}: wr_id {}, a {}: {}\n", side.device.name(),
               completion.qp_num, completion.wr_id, cq == side.send_cq.get() ? "request" : "receive",
               ibv_wc_status_str(completion.status));
  }

  // A packet that is still on its way, or sent again for nothing, must not be noticed any more.
  void check_end() {
    const auto end = SoakClock::now() + std::chrono::milliseconds(500);
    while (SoakClock::now() < end) require(!take_completions(), "a completion came after all had ended");
    for (const SoakLane* lane : lanes_) lane->check_rest();
  }

  void report(SoakClock::duration elapsed) const {
    SoakTotals sum;
    for (const SoakLane* lane : lanes_) {
      sum.bytes += lane->totals().bytes;
      for (std::size_t i = 0; i < kSoakOperations; ++i) sum.messages[i] += lane->totals().messages[i];
    }
    fmt::print("after {:.1f} s, {:.1f} MB:", std::chrono::duration<double>(elapsed).count(),
               static_cast<double>(sum.bytes) / 1e6);
    for (std::size_t i = 0; i < kSoakOperations; ++i) {
      fmt::print("{} {} {}", i == 0 ? "" : ",", sum.messages[i], to_string(static_cast<SoakOperation>(i)));
    }
    fmt::print("\n");
    std::fflush(stdout);
  }

  const Options& options_;
  Side one_, other_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<SoakLane*> lanes_;
  SoakClock::time_point last_turn_ = SoakClock::now();
};

int soak(const Options& options) {
  fmt::print("seed {}: {} connections between {} and {}, {} seconds\n", options.seed, options.connections,
             options.devices.front(), options.devices.back(), options.seconds);
  std::fflush(stdout);
  Soak run(options);
  try {
    run.run();
  } catch (const std::exception& error) {
    // Before the objects are destroyed, which may fail after an error.
    fmt::print(stderr, "verbs_soak: seed {}: {}\n", options.seed, error.what());
    return 1;
  }
  fmt::print("every byte right, every completion once and in order\n");
  return 0;
}

}  // namespace
}  // namespace urnic::apps

int main(int argc, char** argv) {
  urnic::apps::Options options;
  std::random_device entropy;
  options.seed = entropy();
  urnic::command_line::CommandLine program("Mixed traffic on many QPs, every byte checked");
  program.add_option("--seed", options.seed, "What is sent follows from it; a fresh one if left out");
  program.add_option("--seconds", options.seconds, "How long; what is under way then is finished");
  program.add_option("--connections", options.connections, "Each has a QP at both devices").between(1, 1000);
  program.add_option("--longest", options.longest, "The longest message, bytes").between(1, 64 << 20);
  program.add_option("--timeout", options.timeout, "Code of the QPs' local ACK timeout").between(1, 31);
  program.add_option("--patience", options.patience, "Seconds after which a QP without completions is stuck");
  program.add_option("DEVICE", options.devices, "Two devices, or one twice").expected(2, 2);
  if (int status = 0; !program.parse(argc, argv, status)) return status;
  try {
    return urnic::apps::soak(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "verbs_soak: {}\n", error.what());
    return 1;
  }
}
