// Waits that stand for a system call which signal handlers with SA_RESTART do not end, by means of one that
// every handler ends (poll).
#pragma once

namespace urnic::kernel {

// Whether a wait that a handler has ended is to go on. The kernel does not say which handler that was: true
// if all that could have run in this thread restart calls. Async-signal-safe; changes errno.
bool signals_restart_calls();

}  // namespace urnic::kernel
