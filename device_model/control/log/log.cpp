#include "device_model/control/log/log.hpp"

#include <spdlog/spdlog.h>

#include <string>

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

}  // namespace

void write(Level level, fmt::string_view format, fmt::format_args values) {
  spdlog::logger& logger = *spdlog::default_logger_raw();
  if (!logger.should_log(spdlog_level(level))) return;
  const std::string line = fmt::vformat(format, values);
  logger.log(spdlog_level(level), spdlog::string_view_t(line));
}

}  // namespace urnic::control::log
