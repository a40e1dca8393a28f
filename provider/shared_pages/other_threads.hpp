// Whether threads of the program, beside the calling one, could use its memory now.
#pragma once

namespace urnic::provider {

// True also if that is unknown. Workers of io_uring are threads, too. The library's own thread is none: it
// uses its own stack and what it has allocated, which no region has whole pages of.
bool have_other_threads();

// Says whether the library's own thread runs. For a library that may have one; to be called before other
// threads could ask.
void tell_of_own_thread(bool (*runs)());

}  // namespace urnic::provider
