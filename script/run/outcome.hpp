// How a script has ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "script/language/script_error.hpp"

namespace urnic::script {

// What was expected and did not come, or came and was not expected.
struct Failure {
  Position at;
  std::string problem;  // a sentence
  // Of a mismatch in one field or value; else empty.
  std::string field;
  std::string expected;
  std::string seen;
};

struct Outcome {
  std::optional<Failure> failure;  // empty: all was as the script says
  std::string left_out;            // why the script was not run here; empty: it was
  std::string ladder;              // of the packets up to the end
  std::uint64_t statements = 0;    // executed
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_seen = 0;
  double seconds = 0;  // on the host's clock
};

}  // namespace urnic::script
