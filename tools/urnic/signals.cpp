#include "tools/urnic/signals.hpp"

#include <sys/signalfd.h>

namespace urnic::cli {

SignalDescriptor::SignalDescriptor(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  descriptor_ = memory::Descriptor(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int SignalDescriptor::take() const {
  signalfd_siginfo info{};
  return read(descriptor_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace urnic::cli
