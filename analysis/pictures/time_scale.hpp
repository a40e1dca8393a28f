// Times for people, and round numbers for axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace urnic::analysis {

// A unit in which all times of a picture are told.
struct TimeUnit {
  const char* name = "us";
  double nanoseconds = 1000;
  int decimals = 1;
};

// The unit for times up to `span` nanoseconds.
TimeUnit time_unit(std::int64_t span);
// "12.3 us".
std::string time_text(std::int64_t nanoseconds, const TimeUnit& unit);
// In a unit of its own.
std::string time_text(std::int64_t nanoseconds);

// Round numbers from `from` to `to`, about `count` of them, in rising order. Empty if from >= to.
std::vector<double> round_numbers(double from, double to, int count);

}  // namespace urnic::analysis
