// Whether threads of the program, beside the calling one, could use its memory now.
#pragma once

namespace urnic::provider {

// True also if that is unknown. Workers of io_uring are threads, too. The provider's own thread is none: it
// uses its own stack and what it has allocated, which no region has whole pages of.
bool have_other_threads();

}  // namespace urnic::provider
