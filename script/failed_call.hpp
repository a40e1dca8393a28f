// A system call that fails where the run of a script cannot go on.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

namespace urnic::script {

// Throws std::system_error with errno and `what`.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace urnic::script
