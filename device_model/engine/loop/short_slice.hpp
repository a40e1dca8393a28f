// Time slices of threads that must not wait for others' slices.
#pragma once

#include <cstdint>

namespace urnic::engine {

enum class Slices : std::uint8_t { ordinary, small };

// Asks the kernel for time slices of this kind for the calling thread. Small ones (0.1 ms) are scheduled
// earlier: before threads with longer slices left (Linux 6.12 and later). For threads whose turns are short,
// while others may use all processors. Needs no privilege. Threads that the caller starts later get ordinary
// slices. No effect on other kernels.
void ask_for_slices(Slices kind);

}  // namespace urnic::engine
