#include "device_model/control/log/log.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "device_model/control/log/line_rates.hpp"
#include "terminal/harmless_text.hpp"

namespace urnic::control::log {
namespace {

spdlog::level::level_enum spdlog_level(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::critical:
      break;
  }
  return spdlog::level::critical;
}

void put(spdlog::logger& logger, Level level, std::string line) {
  line = terminal::harmless(std::move(line));
  logger.log(spdlog_level(level), spdlog::string_view_t(line));
}

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args values) {
  spdlog::logger& logger = *spdlog::default_logger_raw();
  if (!logger.should_log(spdlog_level(level))) return;
  static LineRates rates;
  const LineRates::Verdict verdict =
      level == Level::debug ? LineRates::Verdict{} : rates.look(format.data(), LineRates::Clock::now());
  if (verdict.left_out_before != 0) {
    put(logger, level,
        fmt::format("{} lines such as the next one were left out: no more than {} are written in a minute",
                    verdict.left_out_before, LineRates::kMost));
  }
  if (verdict.is_written) put(logger, level, fmt::vformat(format, values));
}

}  // namespace urnic::control::log
