#include "web/server/metrics.hpp"

#include <fmt/format.h>

#include <cctype>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

namespace urnic::web {
namespace {

using nlohmann::json;

// A metric's samples must follow each other, so they are gathered by name first.
class Gathered {
 public:
  void counter(const std::string& name, const std::string& help, const std::string& labels,
               const json& value) {
    add(name + "_total", "counter", help, labels, value);
  }
  void gauge(const std::string& name, const std::string& help, const std::string& labels, const json& value) {
    add(name, "gauge", help, labels, value);
  }

  std::string text() const {
    std::string text;
    for (const auto& [name, metric] : metrics_) {
      fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, metric.help, name,
                     metric.type);
      for (const std::string& line : metric.samples) text += name + line;
    }
    return text;
  }

 private:
  struct Metric {
    std::string type;
    std::string help;
    std::vector<std::string> samples;
  };

  void add(const std::string& name, const char* type, const std::string& help, const std::string& labels,
           const json& value) {
    if (!value.is_number()) return;
    Metric& metric = metrics_[name];
    metric.type = type;
    metric.help = help;
    metric.samples.push_back(
        fmt::format("{} {}\n", labels.empty() ? "" : "{" + labels + "}", json_text(value)));
  }

  std::map<std::string, Metric> metrics_;
};

std::string escaped(const std::string& value) {
  std::string text;
  for (const char character : value) {
    if (character == '\\' || character == '"') text += '\\';
    if (character == '\n') {
      text += "\\n";
    } else {
      text += character;
    }
  }
  return text;
}

std::string label(const char* name, const std::string& value) {
  return fmt::format("{}=\"{}\"", name, escaped(value));
}

// Prometheus wants lower case; the kernel has VL15_dropped.
std::string lower(std::string_view name) {
  std::string text(name);
  for (char& character : text)
    character = static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  return text;
}

void add_counters(const Sample& sample, Gathered& gathered) {
  const json devices = sample.counters.value("devices", json::object());
  for (const auto& [device, counters] : devices.items()) {
    for (const auto& [name, value] : counters.items()) {
      const std::string_view whole = name;
      const bool of_link = whole.substr(0, 8) == "link_tx_" || whole.substr(0, 8) == "link_rx_";
      if (of_link) {
        gathered.counter("urnic_link_" + lower(whole.substr(8)),
                         fmt::format("Counter {} of a device's link.", whole.substr(8)),
                         label("device", device) + "," + label("direction", std::string(whole.substr(5, 2))),
                         value);
      } else {
        gathered.counter("urnic_" + lower(whole), fmt::format("Counter {} of a device.", whole),
                         label("device", device), value);
      }
    }
  }
  const json of_switch = sample.counters.value("switch", json::object());
  for (const auto& [name, value] : of_switch.items())
    gathered.counter("urnic_switch_" + lower(name), fmt::format("Counter {} of the switch.", name), "",
                     value);
}

void add_links(const Sample& sample, Gathered& gathered) {
  const json links = sample.links.value("links", json::object());
  for (const auto& [device, link] : links.items()) {
    gathered.gauge("urnic_link_up", "1 if the device's link is up.", label("device", device),
                   json(link.value("state", "") == "up" ? 1 : 0));
    for (const char* direction : {"tx", "rx"}) {
      const json settings = link.value(direction, json::object()).value("settings", json::object());
      const std::string labels = label("device", device) + "," + label("direction", direction);
      gathered.gauge("urnic_link_setting_loss", "Probability with which a device's link loses a packet.",
                     labels, settings.value("loss", json()));
      gathered.gauge("urnic_link_setting_delay_seconds", "Delay of a device's link.", labels,
                     json(settings.value("delay_us", 0.0) / 1e6));
      gathered.gauge("urnic_link_setting_rate_gbps", "Rate of a device's link, 0 without limit.", labels,
                     settings.value("rate_gbps", json()));
    }
  }
}

void add_queue_pairs(const Sample& sample, Gathered& gathered) {
  std::map<std::pair<std::string, std::string>, unsigned> by_state;
  std::map<std::string, std::uint64_t> in_flight;
  // Also where there are none: a curve shall not end.
  for (const json& each : sample.status.value("devices", json::array())) {
    by_state[{each.value("name", ""), "RTS"}] = 0;
    in_flight[each.value("name", "")] = 0;
  }
  for (const auto& [key, row] : sample.queue_pairs) {
    const auto device = row.value("device", "");
    ++by_state[{device, row.value("state", "")}];
    in_flight[device] += row.value("requester", json::object()).value("in_flight", std::uint64_t{0});
  }
  for (const auto& [which, count] : by_state) {
    gathered.gauge("urnic_queue_pairs", "Queue pairs by state.",
                   label("device", which.first) + "," + label("state", which.second), count);
  }
  for (const auto& [device, count] : in_flight)
    gathered.gauge("urnic_packets_in_flight", "Packets sent and not acknowledged.", label("device", device),
                   count);
}

// Of the queue pairs that have something to send: the others' rates are those with which they would begin.
struct CongestionSums {
  std::map<std::string, unsigned> queue_pairs;  // by algorithm
  double rate_gbps = 0;
  std::uint64_t window_bytes = 0;
};

bool has_something_to_send(const json& row, const json& requester) {
  return row.value("wants_to_send", false) || requester.value("in_flight", 0) != 0;
}

// By device; also of devices without any: a curve shall not end.
std::map<std::string, CongestionSums> congestion_sums(const Sample& sample) {
  std::map<std::string, CongestionSums> sums;
  for (const json& each : sample.status.value("devices", json::array())) {
    CongestionSums& device = sums[each.value("name", "")];
    for (const char* algorithm : {"dcqcn", "rtt", "timely"}) device.queue_pairs[algorithm] = 0;
  }
  for (const auto& [key, row] : sample.queue_pairs) {
    const json requester = row.value("requester", json::object());
    const json congestion = requester.value("congestion", json());
    if (!congestion.is_object() || !has_something_to_send(row, requester)) continue;
    CongestionSums& device = sums[row.value("device", "")];
    ++device.queue_pairs[congestion.value("algorithm", "")];
    const json rate = congestion.value("rate_gbps", json());
    if (rate.is_number()) device.rate_gbps += rate.get<double>();
    device.window_bytes += congestion.value("window_bytes", std::uint64_t{0});
  }
  return sums;
}

void add_congestion(const Sample& sample, Gathered& gathered) {
  for (const auto& [name, sums] : congestion_sums(sample)) {
    const std::string device = label("device", name);
    for (const auto& [algorithm, count] : sums.queue_pairs)
      gathered.gauge("urnic_congestion_queue_pairs",
                     "Queue pairs with something to send whose congestion control is this algorithm.",
                     device + "," + label("algorithm", algorithm), count);
    gathered.gauge("urnic_congestion_rate_gbps", "Sum of the rates of queue pairs with something to send.",
                   device, sums.rate_gbps);
    gathered.gauge("urnic_congestion_window_bytes",
                   "Sum of the windows of queue pairs with something to send.", device, sums.window_bytes);
  }
}

}  // namespace

std::string metrics(const Sample& sample) {
  Gathered gathered;
  gathered.gauge("urnic_up", "1 if a device process runs.", "", json(sample.status.empty() ? 0 : 1));
  if (!sample.status.empty()) {
    gathered.gauge("urnic_uptime_seconds", "Age of the device process.", "",
                   sample.status.value("uptime_seconds", json()));
    const json engine = sample.status.value("engine", json::object());
    gathered.counter("urnic_engine_processor_seconds", "Processor time of the engines' threads.", "",
                     engine.value("processor_seconds", json()));
    gathered.gauge("urnic_engine_threads", "Engines of the device process.", "",
                   engine.value("threads", json()));
    gathered.gauge("urnic_contexts", "Devices that programs have opened.", "",
                   json(sample.status.value("contexts", json::array()).size()));
  }
  add_counters(sample, gathered);
  add_links(sample, gathered);
  add_queue_pairs(sample, gathered);
  add_congestion(sample, gathered);
  return gathered.text();
}

}  // namespace urnic::web
