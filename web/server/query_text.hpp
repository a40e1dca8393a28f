// Parameters in the address of a request.
#pragma once

#include <string>
#include <string_view>

namespace urnic::web {

// The first value of `name` in "a=1&b=2", decoded (URL Standard, application/x-www-form-urlencoded: '+' is a
// space, %41 a byte; a '%' without two digits stands for itself). Empty if there is none.
std::string parameter_in(std::string_view query, std::string_view name);

}  // namespace urnic::web
