// Where something stands in a script, and what is wrong there.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace urnic::script {

// Both count from 1; columns count bytes.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  friend bool operator==(const Position&, const Position&) = default;
};

// The script is not one: what() is a sentence that says what is allowed, without the position.
class ScriptError : public std::runtime_error {
 public:
  ScriptError(Position at, const std::string& problem) : std::runtime_error(problem), at_(at) {}
  Position at() const { return at_; }

 private:
  Position at_;
};

// "FILE:LINE:COLUMN: PROBLEM", as compilers say it.
std::string describe(const ScriptError& error, const std::string& file);

}  // namespace urnic::script
