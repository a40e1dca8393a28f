// An error in a settings file.
#pragma once

#include <stdexcept>

namespace urnic::settings {

// One line that names the file, the line, the key, the value and what is allowed.
class SettingError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace urnic::settings
