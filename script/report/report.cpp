#include "script/report/report.hpp"

#include <fmt/format.h>

#include "json/json.hpp"

namespace urnic::script {
namespace {

// Line number `number`, without its end.
std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (; number > 1 && !text.empty(); --number) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return text.substr(0, text.find_first_of("\r\n"));
}

// The line with a sign below the place.
std::string show_place(std::string_view text, Position at) {
  const std::string_view line = line_of(text, at.line);
  std::string below;
  for (std::size_t i = 0; i + 1 < at.column; ++i) below += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  return fmt::format("{:>6} | {}\n{:>6} | {}^\n", at.line, line, "", below);
}

}  // namespace

std::string report(const std::string& file, std::string_view text, const Outcome& outcome) {
  if (!outcome.left_out.empty()) return fmt::format("{}: left out: {}\n", file, outcome.left_out);
  if (!outcome.failure) {
    return fmt::format("{}: passed: {} statements, {} packets sent, {} seen\n", file, outcome.statements,
                       outcome.packets_sent, outcome.packets_seen);
  }
  const Failure& failure = *outcome.failure;
  std::string said =
      fmt::format("{}:{}:{}: {}\n", file, failure.at.line, failure.at.column, failure.problem) +
      show_place(text, failure.at);
  if (outcome.packets_sent + outcome.packets_seen != 0) said += "The packets so far:\n" + outcome.ladder;
  return said;
}

nlohmann::json report_json(const std::string& file, const Outcome& outcome) {
  nlohmann::json all{{"file", file},
                     {"passed", !outcome.failure && outcome.left_out.empty()},
                     {"left_out", outcome.left_out},
                     {"statements", outcome.statements},
                     {"packets_sent", outcome.packets_sent},
                     {"packets_seen", outcome.packets_seen},
                     {"seconds", outcome.seconds}};
  if (!outcome.failure) return all;
  const Failure& failure = *outcome.failure;
  all["failure"] = {{"line", failure.at.line}, {"column", failure.at.column},  {"problem", failure.problem},
                    {"field", failure.field},  {"expected", failure.expected}, {"seen", failure.seen},
                    {"ladder", outcome.ladder}};
  return all;
}

Outcome outcome_of(const ScriptError& error) {
  Outcome outcome;
  outcome.failure = Failure{error.at(), error.what(), {}, {}, {}};
  return outcome;
}

}  // namespace urnic::script
