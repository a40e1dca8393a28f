// What a run says: as text for a terminal, as JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "script/language/script_error.hpp"
#include "script/run/outcome.hpp"

namespace urnic::script {

// Several lines, each with its end: what failed, the line of the script, the packets up to there; or that all
// was well. `text` is the script's.
std::string report(const std::string& file, std::string_view text, const Outcome& outcome);
// {"file", "passed", "left_out", "statements", "packets_sent", "packets_seen", "seconds"} and, if it failed,
// "failure" with "line", "column", "problem", "field", "expected", "seen", and "ladder".
nlohmann::json report_json(const std::string& file, const Outcome& outcome);

// A script that is none, as an outcome that failed.
Outcome outcome_of(const ScriptError& error);

}  // namespace urnic::script
