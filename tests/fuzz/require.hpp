// How a fuzz target fails.
#pragma once

#include <errno.h>

#include <cstdio>
#include <cstdlib>

namespace urnic::fuzz {

// Unless the condition holds, says that `what` is wrong and ends the run, which keeps the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
  std::abort();
}

}  // namespace urnic::fuzz
