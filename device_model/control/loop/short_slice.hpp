// A short time slice for the control thread.
#pragma once

namespace urnic::control {

// Asks the kernel for short time slices (0.1 ms) for the calling thread, which are scheduled earlier: before
// threads with longer slices left (Linux 6.12 and later). The control thread's answers are short, while
// engines and programs may use all processors. Needs no privilege. Threads that the caller starts later get
// ordinary slices. No effect on other kernels.
void ask_for_short_slices();

}  // namespace urnic::control
