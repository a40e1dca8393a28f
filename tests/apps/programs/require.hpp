// A condition without which a program cannot go on. Throws instead of reporting to the test framework,
// because it is used in threads and in child processes too, where that framework cannot be.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace urnic::apps {

template <typename... Arguments>
void require(bool condition, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  if (!condition) throw std::runtime_error(fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace urnic::apps
