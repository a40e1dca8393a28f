// What an examination found.
#pragma once

#include <string>
#include <vector>

namespace urnic::cli::doctor {

enum class Severity {
  good,
  hint,      // works, but slower or with less than elsewhere
  obstacle,  // does not work
};

struct Finding {
  Severity severity = Severity::good;
  std::string subject;  // what was examined, in a word or two
  std::string seen;     // what was found, in a sentence
  std::string remedy;   // what to do; empty for `good`
};

using Findings = std::vector<Finding>;

}  // namespace urnic::cli::doctor
