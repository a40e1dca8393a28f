// Arguments of the form KEY=VALUE.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace urnic::cli {

// An object of the keys with their values: numbers, true and false as in JSON, all else as text, because the
// device process checks the values. Throws Failure for an argument of another form; `example` shows the right
// one.
nlohmann::json parse_settings(const std::vector<std::string>& arguments, std::string_view example);

}  // namespace urnic::cli
