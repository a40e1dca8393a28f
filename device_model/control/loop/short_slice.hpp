// The control thread's turn on a processor.
#pragma once

namespace urnic::control {

// Asks the kernel to give the calling thread short turns (0.1 ms) on a processor, and so early ones: a thread
// with a short slice comes before threads that have longer ones left (Linux 6.12 and later). The control
// thread's answers are short, and engines and programs beside it may have all processors busy. Needs no
// privilege. Threads that the caller starts later get ordinary slices. Without effect on other kernels.
void ask_for_short_slices();

}  // namespace urnic::control
