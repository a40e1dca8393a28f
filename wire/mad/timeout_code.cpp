#include "wire/mad/timeout_code.hpp"

namespace urnic::wire::mad {
namespace {

constexpr std::chrono::nanoseconds kUnit{4096};

}  // namespace

std::chrono::nanoseconds duration(TimeoutCode code) { return kUnit * (std::int64_t{1} << (code.value & 31)); }

TimeoutCode timeout_code_for(std::chrono::nanoseconds time) {
  TimeoutCode code;
  while (code < kLongestTimeout && duration(code) < time) ++code.value;
  return code;
}

}  // namespace urnic::wire::mad
