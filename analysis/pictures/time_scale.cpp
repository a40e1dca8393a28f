#include "analysis/pictures/time_scale.hpp"

#include <fmt/format.h>

#include <cmath>

namespace urnic::analysis {

TimeUnit time_unit(std::int64_t span) {
  if (span < 10'000'000) return {"us", 1e3, 1};
  if (span < 10'000'000'000) return {"ms", 1e6, 3};
  return {"s", 1e9, 6};
}

std::string time_text(std::int64_t nanoseconds, const TimeUnit& unit) {
  return fmt::format("{:.{}f} {}", static_cast<double>(nanoseconds) / unit.nanoseconds, unit.decimals,
                     unit.name);
}

std::string time_text(std::int64_t nanoseconds) { return time_text(nanoseconds, time_unit(nanoseconds)); }

std::vector<double> round_numbers(double from, double to, int count) {
  std::vector<double> numbers;
  if (!(from < to) || count < 1) return numbers;
  const double rough = (to - from) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = power;
  for (const double factor : {2.0, 5.0, 10.0})
    if (step < rough) step = power * factor;
  // Whole multiples, so that no error adds up.
  for (double multiple = std::ceil(from / step); multiple * step <= to; ++multiple) {
    numbers.push_back(multiple * step);
    if (numbers.size() > static_cast<std::size_t>(count) * 4) break;
  }
  return numbers;
}

}  // namespace urnic::analysis
