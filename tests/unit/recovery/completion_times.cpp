#include "tests/unit/recovery/completion_times.hpp"

#include <algorithm>
#include <cmath>

namespace urnic::transport::lab {

std::vector<Nanoseconds> completion_times(const Experiment& experiment, std::uint32_t length,
                                          std::uint32_t messages) {
  Laboratory laboratory(laboratory_settings(experiment));
  std::vector<Nanoseconds> times;
  for (std::uint32_t i = 0; i < messages; ++i) {
    const Nanoseconds posted = laboratory.now();
    laboratory.post(0, experiment.operation, length);
    if (!laboratory.run_until_complete(i + 1) || laboratory.failed(0) != 0) break;
    times.push_back(laboratory.now() - posted);
  }
  return times;
}

Nanoseconds lossless_completion_time(Experiment experiment, std::uint32_t length) {
  experiment.loss = {};
  return completion_times(experiment, length, 5).back();
}

Nanoseconds percentile(std::vector<Nanoseconds> times, double part) {
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(times.size())));
  const auto nth = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(times.begin(), nth, times.end());
  return *nth;
}

}  // namespace urnic::transport::lab
