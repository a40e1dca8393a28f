// Writes lines to the device process's log. Only one file behind this includes spdlog, because its headers
// take long to compile.
#pragma once

#include <fmt/core.h>

#include <cstdint>

namespace urnic::control::log {

enum class Level : std::uint8_t { debug, info, warning, error, critical };

// Formats and writes the line if its level is enabled.
void write(Level level, fmt::string_view format, fmt::format_args values);

template <class... Values>
void debug(fmt::format_string<Values...> format, Values&&... values) {
  write(Level::debug, format, fmt::make_format_args(values...));
}
template <class... Values>
void info(fmt::format_string<Values...> format, Values&&... values) {
  write(Level::info, format, fmt::make_format_args(values...));
}
template <class... Values>
void warn(fmt::format_string<Values...> format, Values&&... values) {
  write(Level::warning, format, fmt::make_format_args(values...));
}
template <class... Values>
void error(fmt::format_string<Values...> format, Values&&... values) {
  write(Level::error, format, fmt::make_format_args(values...));
}
template <class... Values>
void critical(fmt::format_string<Values...> format, Values&&... values) {
  write(Level::critical, format, fmt::make_format_args(values...));
}

}  // namespace urnic::control::log
