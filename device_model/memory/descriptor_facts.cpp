#include "device_model/memory/descriptor_facts.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace urnic::memory {
namespace {

// proc(5), mountinfo: number, parent, device, root, mount point, options, optional fields, "-", type, …
bool mounts_have_proc(const std::string& mountinfo, const std::string& mount) {
  std::ifstream file(mountinfo);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != mount) continue;
    while (words >> word && word != "-") {
    }
    return words >> word && word == "proc";
  }
  return false;
}

}  // namespace

std::string target_of(int descriptor) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  char target[256];
  const ssize_t length = readlink(link.c_str(), target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

bool is_unnamed_pipe(int descriptor) { return target_of(descriptor).starts_with("pipe:["); }

bool is_unix_socket(int descriptor) {
  int family = 0;
  socklen_t length = sizeof family;
  return target_of(descriptor).starts_with("socket:[") &&
         getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) == 0 && family == AF_UNIX;
}

std::string fdinfo_word(int descriptor, std::string_view key) {
  std::ifstream info("/proc/self/fdinfo/" + std::to_string(descriptor));
  for (std::string line; std::getline(info, line);) {
    if (line.size() <= key.size() || !line.starts_with(key) || line[key.size()] != ':') continue;
    std::istringstream rest(line.substr(key.size() + 1));
    std::string word;
    rest >> word;
    return word;
  }
  return {};
}

std::optional<FileNumber> file_number(int descriptor) {
  struct statx status {};
  if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, &status) != 0) return std::nullopt;
  return FileNumber{makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

bool is_on_proc(int descriptor, pid_t owner) {
  const auto file = file_number(descriptor);
  struct stat ours {};
  if (!file) return false;
  if (stat("/proc/self", &ours) == 0 && file->device == ours.st_dev) return true;
  const std::string mount = fdinfo_word(descriptor, "mnt_id");
  if (mount.empty()) return false;
  return mounts_have_proc("/proc/self/mountinfo", mount) ||
         (owner > 0 && mounts_have_proc("/proc/" + std::to_string(owner) + "/mountinfo", mount));
}

bool is_positioned_below_zero(int descriptor) {
  struct statx status {};
  if (statx(descriptor, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) != 0) return false;
  return S_ISREG(status.stx_mode) && fdinfo_word(descriptor, "pos").starts_with('-');
}

}  // namespace urnic::memory
