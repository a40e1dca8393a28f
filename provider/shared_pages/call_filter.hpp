// Filters of system calls (seccomp(2)) on this process.
#pragma once

namespace urnic::provider {

// True also if that is unknown. A filter might end the process for a call that it does not expect.
bool has_filter_of_calls();

}  // namespace urnic::provider
