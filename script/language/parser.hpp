// From a script's text to its statements. All that can be seen without running it is checked here: words,
// names of objects, of arguments and of fields, variables that nothing has set.
#pragma once

#include <string_view>

#include "script/language/syntax_tree.hpp"

namespace urnic::script {

// Which names of arguments are fields of packets (packets/packet_fields.hpp).
using IsField = bool (*)(std::string_view name);

// Throws ScriptError with the place of the first error.
Script parse(std::string_view text, IsField is_field);

}  // namespace urnic::script
