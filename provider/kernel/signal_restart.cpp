#include "provider/kernel/signal_restart.hpp"

#include <signal.h>

namespace urnic::kernel {

namespace {

// A handler that has run once and was to run once only counts, too: its flags are still there.
bool may_have_run(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction != nullptr) return true;
  if (action.sa_handler == SIG_IGN) return false;
  return action.sa_handler != SIG_DFL || (action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0;
}

}  // namespace

bool signals_restart_calls() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigprocmask(SIG_BLOCK, nullptr,
              &blocked);  // of this thread; older C libraries have pthread_sigmask elsewhere
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    if (sigismember(&blocked, signal) == 1) continue;
    if (sigaction(signal, nullptr, &action) != 0) continue;  // the C library's own
    if (may_have_run(action) && (action.sa_flags & SA_RESTART) == 0) return false;
  }
  return true;
}

}  // namespace urnic::kernel
