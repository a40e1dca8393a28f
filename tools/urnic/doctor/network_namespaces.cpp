// Whether programs can have a network of the devices (docs/network.md): by user namespaces, or with a
// privilege.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "device_model/memory/descriptor.hpp"
#include "tools/urnic/doctor/examinations.hpp"

namespace urnic::cli::doctor {
namespace {

enum class Step : std::uint8_t { done, fork, network, open_tun, make_tap };

struct Outcome {
  Step failed = Step::fork;
  int error = 0;
};

Outcome make_tap() {
  const memory::Descriptor tap(open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tap) return {Step::open_tun, errno};
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(tap.get(), TUNSETIFF, &request) != 0) return {Step::make_tap, errno};
  return {Step::done, 0};
}

// In a process of its own, whose namespaces end with it: nobody sees the interface.
Outcome try_in_child(int flags) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {Step::fork, errno};
  const memory::Descriptor from(ends[0]);
  memory::Descriptor to(ends[1]);
  const pid_t child = fork();
  if (child < 0) return {Step::fork, errno};
  if (child == 0) {
    const Outcome outcome = unshare(flags) == 0 ? make_tap() : Outcome{Step::network, errno};
    [[maybe_unused]] const ssize_t told = write(to.get(), &outcome, sizeof outcome);
    _exit(0);
  }
  to.reset();
  Outcome outcome{Step::fork, 0};
  if (read(from.get(), &outcome, sizeof outcome) != sizeof outcome) outcome = {Step::fork, 0};
  waitpid(child, nullptr, 0);
  return outcome;
}

const char* remedy_for(Step failed) {
  switch (failed) {
    case Step::network:
      return "let users make user namespaces (sysctl user.max_user_namespaces, on Debian "
             "kernel.unprivileged_userns_clone, on Ubuntu kernel.apparmor_restrict_unprivileged_userns), "
             "allow unshare "
             "in a container's system call filter, or run urnic as root";
    case Step::open_tun:
      return "load the kernel module tun, or give the container /dev/net/tun (docker run --device "
             "/dev/net/tun)";
    case Step::make_tap:
      return "allow TAP interfaces in the container (docker run --cap-add NET_ADMIN)";
    case Step::fork:
    case Step::done:
      break;
  }
  return "";
}

// For interfaces in this network, where none is made for a try.
bool administers_network() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  return syscall(SYS_capget, &header, sets.data()) == 0 && (sets[0].effective & (1u << CAP_NET_ADMIN)) != 0 &&
         access("/dev/net/tun", R_OK | W_OK) == 0;
}

std::string what_failed(const Outcome& outcome) {
  const char* const step = outcome.failed == Step::network    ? "a network namespace cannot be made"
                           : outcome.failed == Step::open_tun ? "/dev/net/tun cannot be opened"
                           : outcome.failed == Step::make_tap ? "a TAP interface cannot be made"
                                                              : "it cannot be tried";
  return fmt::format("{}: {}", step, std::strerror(outcome.error));
}

}  // namespace

// Most programs need none of it, so what is missing is no obstacle.
Findings examine_network() {
  Outcome own = try_in_child(CLONE_NEWNET);
  const bool by_right = own.failed == Step::done;
  if (!by_right) own = try_in_child(CLONE_NEWUSER | CLONE_NEWNET);
  const bool beside = administers_network();
  const char* const host = beside ? "; --interfaces works, too" : "";
  if (own.failed == Step::done)
    return {{Severity::good, "network",
             fmt::format("--network works, {}{}",
                         by_right ? "without a user namespace" : "by a user namespace", host),
             ""}};
  const std::string refused = "--network does not work: " + what_failed(own);
  if (beside) return {{Severity::hint, "network", refused, "--interfaces works"}};
  return {{Severity::hint, "network", refused, remedy_for(own.failed)}};
}

}  // namespace urnic::cli::doctor
