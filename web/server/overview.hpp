// What the device process does as a whole, asked for only while somebody looks, and seldom enough that the
// device process does not notice.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "json/json.hpp"
#include "web/server/device_connection.hpp"

namespace urnic::web {

// One look at all devices. Constant once it is made.
struct Sample {
  std::uint64_t number = 0;  // from 1
  // Of the admin socket, as they came (docs/admin-socket.md); empty objects if no device process runs.
  nlohmann::json status = nlohmann::json::object();
  nlohmann::json counters = nlohmann::json::object();
  nlohmann::json links = nlohmann::json::object();
  nlohmann::json faults = nlohmann::json::object();
  std::map<std::string, nlohmann::json> queue_pairs;  // by "urnic0/17"
  std::string problem;                                // in words; empty: there is none
  std::chrono::system_clock::time_point taken{};

  // All but the queue pairs, as the page gets it.
  nlohmann::json overview() const;
};

class Overview {
 public:
  // Between two looks at least. A look that takes long is followed by fifty times as long a rest.
  static constexpr std::chrono::milliseconds kInterval{500};
  static constexpr int kRest = 50;

  explicit Overview(DeviceConnection& devices) : devices_(devices) {}

  // The present sample: a new one if the rest is over, else the last. Any thread; several that ask at once
  // get the same.
  std::shared_ptr<const Sample> sample();
  // The next call of `sample` looks anew, because something was changed.
  void look_again();

 private:
  using Clock = std::chrono::steady_clock;

  std::shared_ptr<const Sample> take();
  void ask(Sample& sample);
  void ask_queue_pairs(Sample& sample);

  DeviceConnection& devices_;
  std::mutex mutex_;
  std::shared_ptr<const Sample> last_;
  Clock::time_point next_{};
};

}  // namespace urnic::web
