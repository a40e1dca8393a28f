// What is wrong with a capture file.
#pragma once

#include <stdexcept>

namespace urnic::analysis {

// what() says where, what was found, and what would be right; one line.
struct CaptureError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace urnic::analysis
