// loss_lab: goodput and completion times of all recoveries under virtual time, as JSON on standard output.
// The same seed gives the same output on every machine.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "json/json.hpp"
#include "tests/unit/recovery/completion_times.hpp"
#include "tests/unit/recovery/goodput.hpp"
#include "tests/unit/recovery/names.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kBurst = 8;
constexpr std::uint32_t kShortMessage = 4096;

struct Options {
  std::uint64_t seed = 1;
  bool quick = false;
  std::vector<std::string> modes;
  std::vector<double> losses{0, 0.0001, 0.001, 0.01, 0.03, 0.1};
  std::vector<std::uint32_t> mtus{1024, 4096};
  std::vector<std::int64_t> delays_us{5, 50};
  std::vector<double> bursts{1, kBurst};

  bool wants(RecoveryMode mode) const {
    return modes.empty() || std::find(modes.begin(), modes.end(), name(mode)) != modes.end();
  }
  Nanoseconds duration() const { return std::chrono::milliseconds(quick ? 5 : 30); }
  std::uint32_t messages() const { return quick ? 200 : 1000; }
};

Json point(const Experiment& experiment) {
  return {{"recovery", name(experiment.mode)}, {"operation", name(experiment.operation)},
          {"mtu", experiment.path_mtu},        {"one_way_delay_us", seconds(experiment.delay) * 1e6},
          {"loss", experiment.loss.loss},      {"mean_burst", experiment.loss.mean_burst}};
}

// Long round trips, and the timeouts of go-back-N, take longer until a figure is steady.
Nanoseconds duration_of(const Experiment& experiment, const Options& options) {
  if (experiment.mode == RecoveryMode::gbn) return 4 * options.duration();
  return experiment.delay > std::chrono::microseconds(10) ? 2 * options.duration() : options.duration();
}

Json goodput_point(const Experiment& experiment, double lossless, const Goodput& goodput) {
  Json json = point(experiment);
  json["goodput_gbps"] = goodput.bits_per_second / 1e9;
  json["lossless_gbps"] = lossless / 1e9;
  json["share"] = share(goodput.bits_per_second, lossless, experiment);
  json["messages"] = goodput.messages;
  json["sent_again"] = goodput.sent_twice;
  json["ack_timeouts"] = goodput.timeouts;
  json["gave_up"] = goodput.gave_up;
  // Losses that come in bursts are not what the formula is for.
  if (experiment.mode == RecoveryMode::gbn && experiment.loss.mean_burst <= 1) {
    const double calculated = gbn_closed_form(experiment);
    json["closed_form_gbps"] = calculated / 1e9;
    json["closed_form_share"] = share(calculated, line_rate(experiment), experiment);
  }
  return json;
}

Json completion_point(const Experiment& experiment, const std::vector<Nanoseconds>& times,
                      Nanoseconds lossless) {
  Json json = point(experiment);
  json["messages"] = times.size();
  json["lossless_us"] = seconds(lossless) * 1e6;
  if (times.empty()) return json;
  json["median"] = seconds(percentile(times, 0.5)) / seconds(lossless);
  json["p99"] = seconds(percentile(times, 0.99)) / seconds(lossless);
  return json;
}

// One mode, operation, MTU and delay: all losses, the lossless first because all others refer to it.
void measure(Experiment experiment, const Options& options, Json& goodputs, Json& completions) {
  experiment.loss = {};
  const Nanoseconds duration = duration_of(experiment, options);
  const Goodput lossless = measure_goodput(experiment, duration);
  const Nanoseconds lossless_time = lossless_completion_time(experiment, kShortMessage);
  for (const double burst : options.bursts) {
    for (const double loss : options.losses) {
      if (loss == 0 && burst != options.bursts.front()) continue;
      experiment.loss = {loss, burst};
      const Goodput goodput = loss == 0 ? lossless : measure_goodput(experiment, duration);
      goodputs.push_back(goodput_point(experiment, lossless.bits_per_second, goodput));
      completions.push_back(completion_point(
          experiment, completion_times(experiment, kShortMessage, options.messages()), lossless_time));
    }
  }
}

Json irn_settings(const Options& options) {
  Json all = Json::array();
  for (const std::uint32_t mtu : options.mtus) {
    for (const std::int64_t delay : options.delays_us) {
      Experiment experiment;
      experiment.path_mtu = mtu;
      experiment.delay = std::chrono::microseconds(delay);
      const RecoverySettings settings = laboratory_settings(experiment).recovery[0];
      all.push_back({{"mtu", mtu},
                     {"one_way_delay_us", delay},
                     {"cap_packets", settings.irn_window},
                     {"timeout_low_us", static_cast<double>(settings.irn_timeout_low.count()) / 1e3},
                     {"timeout_high_us", static_cast<double>(settings.irn_timeout_high.count()) / 1e3}});
    }
  }
  return all;
}

Json settings_of(const Options& options) {
  const LaboratorySettings settings = laboratory_settings({});
  return {{"link_gbps", Experiment{}.bits_per_second / 1e9},
          {"frame", "with preamble, frame check sequence and gap"},
          {"message_bytes", kGoodputMessage},
          {"short_message_bytes", kShortMessage},
          {"window_packets", settings.window_packets},
          {"max_reads", settings.max_reads},
          {"ack_timeout_us", 4.096 * (1u << settings.timeout)},
          {"retry_count", settings.retry_count},
          {"reordering", settings.recovery[0].reordering},
          {"irn", irn_settings(options)}};
}

Json run(const Options& options) {
  Json result{{"seed", options.seed}, {"quick", options.quick}, {"settings", settings_of(options)}};
  Json goodputs = Json::array();
  Json completions = Json::array();
  for (const RecoveryMode mode : kModes) {
    if (!options.wants(mode)) continue;
    for (const WorkOpcode operation : kOperations) {
      for (const std::uint32_t mtu : options.mtus) {
        for (const std::int64_t delay : options.delays_us) {
          measure({.mode = mode,
                   .operation = operation,
                   .path_mtu = mtu,
                   .delay = std::chrono::microseconds(delay),
                   .loss = {},
                   .seed = options.seed},
                  options, goodputs, completions);
        }
      }
    }
  }
  result["goodput"] = std::move(goodputs);
  result["completion_times"] = std::move(completions);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "Goodput and completion times of the loss recoveries on a 100 Gbit/s link, under virtual time, as "
      "JSON.\n"
      "Example: loss_lab --recovery sack --mtu 4096 --loss 0,0.01 --delay-us 5");
  Options options;
  app.add_option("--seed", options.seed, "What all chance follows from").show_default();
  app.add_flag("--quick", options.quick, "A sixth of the virtual time, a fifth of the messages");
  app.add_option("--recovery", options.modes, "Only these")
      .delimiter(',')
      .one_of({"gbn", "selective", "irn", "sack"});
  app.add_option("--loss", options.losses, "Shares of packets lost")
      .delimiter(',')
      .between(0.0, 0.9)
      .show_default();
  app.add_option("--mtu", options.mtus, "Path MTUs in bytes")
      .delimiter(',')
      .one_of({"256", "512", "1024", "2048", "4096"})
      .show_default();
  app.add_option("--delay-us", options.delays_us, "Delays each way in microseconds")
      .delimiter(',')
      .between(0, 100'000)
      .show_default();
  app.add_option("--burst", options.bursts, "Mean lengths of bursts of losses in packets; 1: each by itself")
      .delimiter(',')
      .between(1.0, 1000.0)
      .show_default();
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    std::cout << urnic::json_lines(run(options)) << '\n';
  } catch (const std::exception& error) {
    std::cerr << "loss_lab: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
