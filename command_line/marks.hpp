// How command_line.cpp keeps with an option what CLI11 has no place for, and description.cpp finds it: as the
// names of validators.
#pragma once

namespace urnic::command_line {

// Behind it: the words that the value may be, with commas between them.
constexpr const char* kChoicesMark = "choices:";
// Behind it: what Option::suggest was given.
constexpr const char* kSuggestionMark = "suggestion:";

}  // namespace urnic::command_line
