#include "tools/urnic/program_network.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "json/json.hpp"

namespace urnic::cli {
namespace {

std::string problem(const std::string& what) { return what + ": " + std::strerror(errno); }

bool is_own(int descriptor, const char* file) {
  struct stat theirs {};
  struct stat own {};
  return fstat(descriptor, &theirs) == 0 && stat(file, &own) == 0 && theirs.st_dev == own.st_dev &&
         theirs.st_ino == own.st_ino;
}

// A program may change its network, listen to it and use its low ports, as the administrator of a machine
// may; exec leaves an ordinary user only what is ambient (capabilities(7)).
void keep_network_rights() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  constexpr std::array kKept{CAP_NET_ADMIN, CAP_NET_RAW, CAP_NET_BIND_SERVICE};
  for (const int capability : kKept) sets[0].inheritable |= sets[0].permitted & (1u << capability);
  if (syscall(SYS_capset, &header, sets.data()) != 0) return;
  for (const int capability : kKept) prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

// Mounts of this process and its children, which no other sees.
bool begin_own_mounts() {
  return unshare(CLONE_NEWNS) == 0 &&
         syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

// A file system of this kind, at no place yet; invalid: the system does not allow it.
memory::Descriptor mount_unplaced(const char* kind) {
  const memory::Descriptor made(static_cast<int>(syscall(SYS_fsopen, kind, FSOPEN_CLOEXEC)));
  if (!made || syscall(SYS_fsconfig, made.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return {};
  return memory::Descriptor(static_cast<int>(syscall(SYS_fsmount, made.get(), FSMOUNT_CLOEXEC, 0)));
}

// A folder or file of `file_system` in that place.
void show_instead(int file_system, const char* part, const char* place) {
  const memory::Descriptor shown(
      static_cast<int>(syscall(SYS_open_tree, file_system, part, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC)));
  if (!shown) return;
  syscall(SYS_move_mount, shown.get(), "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS);
}

// The kernel shows in sysfs the interfaces of the network in which it was mounted. Where the system lets
// nobody mount it, programs see there the interfaces that they saw before; the other ways to ask are not
// affected.
void show_interfaces_in_sysfs() {
  const memory::Descriptor sysfs = mount_unplaced("sysfs");
  if (!sysfs) return;
  show_instead(sysfs.get(), "class/net", "/sys/class/net");
  show_instead(sysfs.get(), "devices/virtual/net", "/sys/devices/virtual/net");
}

// The host's name server may listen on the host's loopback interface. slirp4netns passes on what is sent to
// this address.
void ask_the_way_outside_for_names() {
  constexpr std::string_view kNameServer = "nameserver 10.0.2.3\n";
  const memory::Descriptor files = mount_unplaced("tmpfs");
  if (!files) return;
  {
    const memory::Descriptor file(
        openat(files.get(), "resolv.conf", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
    if (!file || write(file.get(), kNameServer.data(), kNameServer.size()) < 0) return;
  }
  show_instead(files.get(), "resolv.conf", "/etc/resolv.conf");
}

}  // namespace

ProgramNetwork::ProgramNetwork(AdminClient& admin) {
  const nlohmann::json answer = admin.ask({{"cmd", "network"}});
  leads_outside_ = answer.at("outside").get<bool>();
  const auto names = answer.at("namespaces").get<std::vector<std::string>>();
  std::vector<memory::Descriptor> descriptors = admin.take_descriptors();
  if (names.size() != descriptors.size()) throw Failure("the device process did not hand over its network");
  for (std::size_t i = 0; i < names.size(); ++i)
    namespaces_.push_back({names[i] == "user" ? CLONE_NEWUSER : CLONE_NEWNET, std::move(descriptors[i])});
}

// The user namespace comes first: it gives the right to enter the other.
std::string ProgramNetwork::enter() const {
  if (namespaces_.empty() || is_own(namespaces_.back().descriptor.get(), "/proc/self/ns/net")) return {};
  for (const Namespace& each : namespaces_) {
    if (each.kind == CLONE_NEWUSER && is_own(each.descriptor.get(), "/proc/self/ns/user")) continue;
    if (setns(each.descriptor.get(), each.kind) != 0)
      return problem(each.kind == CLONE_NEWUSER ? "its user namespace cannot be entered"
                                                : "its network namespace cannot be entered");
  }
  if (begin_own_mounts()) {
    show_interfaces_in_sysfs();
    if (leads_outside_) ask_the_way_outside_for_names();
  }
  keep_network_rights();
  return {};
}

}  // namespace urnic::cli
