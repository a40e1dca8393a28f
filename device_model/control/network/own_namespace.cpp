#include "device_model/control/network/own_namespace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "device_model/control/loop/message_socket.hpp"

namespace urnic::control {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

void write_text(const char* file, const std::string& text) {
  const memory::Descriptor to(open(file, O_WRONLY | O_CLOEXEC));
  if (!to || write(to.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) fail(file);
}

// Each user and group keeps its number (user_namespaces(7)).
void keep_numbers(uid_t user, gid_t group) {
  write_text("/proc/self/setgroups", "deny");
  write_text("/proc/self/uid_map", fmt::format("{} {} 1", user, user));
  write_text("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
}

// Whether a user namespace was needed to enter it. Where none was, one owns the network yet if there may be:
// this process's user has all rights in what his user namespace owns, also when his privileges are dropped
// (user_namespaces(7)).
bool enter_new_network() {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWNET) == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0) keep_numbers(user, group);
    return false;
  }
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
    fail(
        "a network namespace needs a user namespace, and this system lets its users make none ('urnic "
        "doctor' "
        "says more; as root, or with CAP_NET_ADMIN and --interfaces, none is needed)");
  keep_numbers(user, group);
  return true;
}

memory::Descriptor open_own(const char* kind) {
  memory::Descriptor opened(open(fmt::format("/proc/self/ns/{}", kind).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) fail(fmt::format("/proc/self/ns/{}", kind));
  return opened;
}

constexpr std::string_view kDone = "done";
constexpr std::size_t kLongestText = 1024;

// At first what the namespaces are, then the contents, in as many messages as it takes.
void send_descriptors(int socket, const std::vector<memory::Descriptor>& all) {
  for (std::size_t sent = 0; sent < all.size();) {
    std::vector<int> numbers;
    for (; sent < all.size() && numbers.size() < kMaxMessageDescriptors; ++sent)
      numbers.push_back(all[sent].get());
    const std::byte more{};
    if (!send_message(socket, {&more, 1}, numbers)) fail("descriptors of the network");
  }
}

[[noreturn]] void be_maker(int socket, const std::function<std::vector<memory::Descriptor>()>& fill) {
  std::string text(kDone);
  try {
    std::vector<memory::Descriptor> all;
    const bool has_user_namespace = enter_new_network();
    if (has_user_namespace) text += " user";
    all.push_back(open_own("net"));
    if (has_user_namespace) all.push_back(open_own("user"));
    for (memory::Descriptor& each : fill()) all.push_back(std::move(each));
    send_descriptors(socket, all);
  } catch (const std::exception& error) {
    text = error.what();
  }
  send_message(socket, std::as_bytes(std::span(text)), {});
  _exit(0);
}

// The maker's last words, once it has ended.
std::string receive_all(int socket, std::vector<memory::Descriptor>& descriptors) {
  std::array<char, kLongestText> text;
  for (;;) {
    int flags = 0;
    const ssize_t size = receive_bytes(socket, std::as_writable_bytes(std::span(text)), descriptors, flags);
    if (size <= 0) return "its maker has ended without a word";
    if (size > 1) return {text.data(), static_cast<std::size_t>(size)};
  }
}

}  // namespace

FilledNamespace make_network_namespace(const std::function<std::vector<memory::Descriptor>()>& fill) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  memory::Descriptor own(ends[0]);
  memory::Descriptor makers(ends[1]);
  const pid_t maker = fork();
  if (maker < 0) fail("fork");
  if (maker == 0) be_maker(makers.get(), fill);
  makers.reset();
  while (waitpid(maker, nullptr, 0) < 0 && errno == EINTR) {
  }
  FilledNamespace made;
  const std::string words = receive_all(own.get(), made.contents);
  const bool has_user_namespace = words == std::string(kDone) + " user";
  if (!has_user_namespace && words != kDone) throw std::runtime_error("the network cannot be made: " + words);
  made.place.network = std::move(made.contents.front());
  if (has_user_namespace) made.place.user = std::move(made.contents[1]);
  made.contents.erase(made.contents.begin(), made.contents.begin() + (has_user_namespace ? 2 : 1));
  return made;
}

}  // namespace urnic::control
