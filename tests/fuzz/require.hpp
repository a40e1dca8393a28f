// How a fuzz target fails.
#pragma once

#include <errno.h>

#include <cstdio>
#include <cstdlib>

namespace urnic::fuzz {

// Ends the run, which keeps the input, with `what` is wrong, unless the condition holds.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
  std::abort();
}

}  // namespace urnic::fuzz
