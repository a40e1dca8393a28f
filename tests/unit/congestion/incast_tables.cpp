#include "tests/unit/congestion/incast_tables.hpp"

#include <algorithm>
#include <iomanip>
#include <numeric>
#include <optional>
#include <ostream>
#include <sstream>

#include "tests/unit/congestion/fluid_model.hpp"
#include "tests/unit/congestion/incast_figures.hpp"

namespace urnic::transport::lab {

namespace {

struct Algorithm {
  std::string name;
  CongestionAlgorithm algorithm;
  std::optional<double>
      marking;  // the port's ecn_probability; empty: it marks nothing. 0: as the settings say
  Nanoseconds timely_high = TimelySettings{}.high;
};

const std::vector<Algorithm>& all_algorithms() {
  using enum CongestionAlgorithm;
  static const std::vector<Algorithm> all{{"off", off, std::nullopt},
                                          {"dcqcn", dcqcn, 0},
                                          {"dcqcn-steep", dcqcn, 0.1},
                                          {"rtt", rtt, std::nullopt},
                                          {"rtt-marked", rtt, 0},
                                          {"timely", timely, std::nullopt},
                                          {"timely-150", timely, std::nullopt, Nanoseconds{150'000}}};
  return all;
}

std::vector<Algorithm> chosen(const TableSettings& settings) {
  if (settings.algorithms.empty()) return all_algorithms();
  std::vector<Algorithm> some;
  for (const Algorithm& each : all_algorithms())
    if (std::count(settings.algorithms.begin(), settings.algorithms.end(), each.name) != 0)
      some.push_back(each);
  return some;
}

IncastSettings with(IncastSettings incast, const Algorithm& algorithm, std::uint32_t flows) {
  incast.congestion.algorithm = algorithm.algorithm;
  incast.congestion.line = SendRate::gbps(incast.line_gbps);
  incast.flows = flows;
  incast.congestion.timely.high = algorithm.timely_high;
  if (!algorithm.marking) incast.ecn_max_bytes = 0;
  if (algorithm.marking.value_or(0) > 0) incast.ecn_probability = *algorithm.marking;
  return incast;
}

std::string fixed(double value, int places) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(places) << value;
  return text.str();
}

std::string kilobytes(double bytes) { return fixed(bytes / 1000, 1); }

std::string milliseconds(const std::optional<Nanoseconds>& time, Nanoseconds limit) {
  const auto in_ms = [](Nanoseconds span) { return std::chrono::duration<double, std::milli>(span).count(); };
  return time ? fixed(in_ms(*time), 1) : "> " + fixed(in_ms(limit), 0);
}

void print_shares(const TableSettings& settings, std::ostream& out) {
  out << "| senders | algorithm | utilisation | Jain's index | least, most of fair share | queue, mean kB | "
         "99th percentile kB | packets dropped |\n|---|---|---|---|---|---|---|---|\n";
  for (const std::uint32_t flows : settings.flows) {
    for (const Algorithm& algorithm : chosen(settings)) {
      const IncastFigures figures =
          measure(with(settings.incast, algorithm, flows), settings.before, settings.window);
      const auto [least, most] = std::minmax_element(figures.goodput.begin(), figures.goodput.end());
      out << "| " << flows << " | `" << algorithm.name << "` | " << fixed(figures.utilisation, 3) << " | "
          << fixed(figures.fairness, 3) << " | " << fixed(*least * flows, 2) << ", "
          << fixed(*most * flows, 2) << " | " << kilobytes(figures.mean_queue) << " | "
          << kilobytes(static_cast<double>(figures.p99_queue)) << " | " << figures.drops << " |" << std::endl;
    }
  }
}

void print_changes(const TableSettings& settings, std::ostream& out) {
  constexpr Nanoseconds kLimit = std::chrono::milliseconds(200);
  out << "| senders | algorithm | one joins, ms | half leave, ms |\n|---|---|---|---|\n";
  for (const std::uint32_t flows : settings.flows) {
    for (const Algorithm& algorithm : chosen(settings)) {
      const IncastSettings incast = with(settings.incast, algorithm, flows);
      out << "| " << flows << " | `" << algorithm.name << "` | "
          << milliseconds(time_to_join(incast, settings.before, kLimit), kLimit) << " | "
          << milliseconds(time_to_take_over(incast, settings.before, kLimit), kLimit) << " |" << std::endl;
    }
  }
}

void print_distances(const TableSettings& settings, std::ostream& out) {
  out << "| senders | algorithm | utilisation | Jain's index | goodput of a far flow to that of a near one "
         "|\n|---|---|---|---|---|\n";
  for (const std::uint32_t flows : settings.flows) {
    for (const Algorithm& algorithm : chosen(settings)) {
      IncastSettings incast = with(settings.incast, algorithm, flows);
      incast.far = 4;
      const IncastFigures figures = measure(incast, settings.before, settings.window);
      double near = 0;
      double far = 0;
      for (std::size_t flow = 0; flow < flows; ++flow) (flow % 2 == 1 ? far : near) += figures.goodput[flow];
      out << "| " << flows << " | `" << algorithm.name << "` | " << fixed(figures.utilisation, 3) << " | "
          << fixed(figures.fairness, 3) << " | " << fixed(far / near, 2) << " |" << std::endl;
    }
  }
}

// Losses in a window vary, so it is longer.
void print_losses(const TableSettings& settings, std::ostream& out) {
  out << "| senders | algorithm | 0.1 % | 1 % |\n|---|---|---|---|\n";
  for (const std::uint32_t flows : {1u, 2u, 8u}) {
    for (const Algorithm& algorithm : chosen(settings)) {
      IncastSettings incast = with(settings.incast, algorithm, flows);
      const auto goodput = [&](double loss) {
        incast.loss = loss;
        return measure(incast, settings.before, 3 * settings.window).utilisation;
      };
      const double lossless = goodput(0);
      out << "| " << flows << " | `" << algorithm.name << "` | "
          << fixed(goodput(0.001) / (lossless * 0.999), 3) << " | "
          << fixed(goodput(0.01) / (lossless * 0.99), 3) << " |" << std::endl;
    }
  }
}

double mean_fluid_queue(FluidModel& model, double span) {
  constexpr int kSamples = 1000;
  double sum = 0;
  for (int i = 0; i < kSamples; ++i) {
    model.run_for(span / kSamples);
    sum += model.queue();
  }
  return sum / kSamples;
}

// As time_to_join.
std::optional<Nanoseconds> fluid_time_to_join(const FluidSettings& settings, std::uint32_t flows,
                                              Nanoseconds before, Nanoseconds limit) {
  FluidModel model(settings);
  for (std::uint32_t flow = 1; flow < flows; ++flow) model.add_flow();
  model.run_for(std::chrono::duration<double>(before).count());
  model.add_flow();
  constexpr Nanoseconds kStep{100'000};
  constexpr auto kSteps = kAverage / kStep;
  std::vector<double> shares;
  for (Nanoseconds begin{0}; begin <= limit;) {
    model.run_for(std::chrono::duration<double>(kStep).count());
    shares.push_back(model.share(flows - 1));
    if (static_cast<std::int64_t>(shares.size()) < kSteps) continue;
    const double share = std::accumulate(shares.end() - kSteps, shares.end(), 0.0) * flows / kSteps;
    if (share >= 0.8 && share <= 1.2) return begin;
    begin += kStep;
  }
  return std::nullopt;
}

void print_fluid(const TableSettings& settings, std::ostream& out) {
  constexpr Nanoseconds kLimit = std::chrono::milliseconds(200);
  out << "| senders | marking | queue, mean kB | by the model | one joins, ms | by the model "
         "|\n|---|---|---|---|---|---|\n";
  for (const std::uint32_t flows : {2u, 8u}) {
    for (const Algorithm& algorithm : all_algorithms()) {
      if (algorithm.algorithm != CongestionAlgorithm::dcqcn) continue;
      const IncastSettings incast = with(settings.incast, algorithm, flows);
      FluidSettings fluid;
      fluid.packet = incast.path_mtu + 82.0;  // headers, and what Ethernet adds
      fluid.line = incast.line_gbps * 1e9 / 8;
      fluid.marking_from = incast.ecn_min_bytes;
      fluid.marking_to = incast.ecn_max_bytes;
      fluid.probability = incast.ecn_probability;
      FluidModel model(fluid);
      for (std::uint32_t flow = 0; flow < flows; ++flow) model.add_flow();
      model.run_for(std::chrono::duration<double>(settings.before).count());
      out << "| " << flows << " | " << fixed(100 * incast.ecn_probability, 0) << " % | "
          << kilobytes(measure(incast, settings.before, 10 * settings.window).mean_queue) << " | "
          << kilobytes(mean_fluid_queue(model, std::chrono::duration<double>(10 * settings.window).count()))
          << " | " << milliseconds(time_to_join(incast, settings.before, kLimit), kLimit) << " | "
          << milliseconds(fluid_time_to_join(fluid, flows, settings.before, kLimit), kLimit) << " |"
          << std::endl;
    }
  }
}

}  // namespace

void print_table(const std::string& table, const TableSettings& settings, std::ostream& out) {
  if (table == "share") print_shares(settings, out);
  if (table == "changes") print_changes(settings, out);
  if (table == "distance") print_distances(settings, out);
  if (table == "loss") print_losses(settings, out);
  if (table == "fluid") print_fluid(settings, out);
  out << '\n';
}

}  // namespace urnic::transport::lab
