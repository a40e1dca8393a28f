#include "device_model/control/owned_run_directory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <thread>

#include "device_model/abi/run_directory_layout.hpp"
#include "trust/directory.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

constexpr char kOlderLog[] = "urnicd.1.log";  // the older part of a long log

bool is_ours(const std::string& name) {
  static constexpr const char* kNames[] = {abi::kPidFile,       abi::kLogFile,     kOlderLog,
                                           abi::kSysfs,         abi::kAdminSocket, abi::kDeviceNodes,
                                           abi::kNetlinkSocket, abi::kOpensmFolder};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

std::string read_pid(int file) {
  char text[16] = {};
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  std::string pid(text, size > 0 ? static_cast<std::size_t>(size) : 0);
  pid.erase(std::find_if(pid.begin(), pid.end(), [](char c) { return c < '0' || c > '9'; }), pid.end());
  return pid.empty() ? "unknown" : pid;
}

bool accepts_connections(const fs::path& socket_file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket_file.c_str(), sizeof address.sun_path - 1);
  const memory::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A process without a socket is starting or ending: waits a moment, so that a command does not fail because
// the one before has just ended.
bool lock_in_time(int pid_file, const fs::path& socket) {
  constexpr std::chrono::milliseconds look_again{10};
  constexpr std::chrono::milliseconds patience{5000};
  for (auto waited = look_again; waited < patience; waited += look_again) {
    if (flock(pid_file, LOCK_EX | LOCK_NB) == 0) return true;
    if (accepts_connections(socket)) return false;
    std::this_thread::sleep_for(look_again);
  }
  return false;
}

[[noreturn]] void fail_with_errno(const fs::path& path) {
  throw RunDirectoryError(fmt::format("run directory: {}: {}: set {} to another path", path.string(),
                                      std::strerror(errno), abi::kRunDirectoryVariable));
}

[[noreturn]] void refuse_owner(const fs::path& path) {
  throw RunDirectoryError(
      fmt::format("run directory: {} belongs to another user or others may write to it: set {} to a path of "
                  "your own",
                  path.string(), abi::kRunDirectoryVariable));
}

// In /tmp any user can create the directory first: it is safe only where no other user can replace it.
void check_parent(const fs::path& path) {
  const trust::DirectoryFault fault = trust::check_parent(path.parent_path().c_str());
  if (fault == trust::DirectoryFault::none) return;
  throw RunDirectoryError(fmt::format("run directory: {} {}: set {} to a path of your own", path.string(),
                                      trust::describe(fault), abi::kRunDirectoryVariable));
}

// Empty if the directory is gone.
memory::Descriptor open_directory(const fs::path& path) {
  memory::Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory && errno == ENOENT) return directory;
  struct stat status {};
  if (!directory || fstat(directory.get(), &status) != 0) fail_with_errno(path);
  if (status.st_uid != geteuid()) refuse_owner(path);
  return directory;
}

}  // namespace

OwnedRunDirectory::OwnedRunDirectory(const fs::path& path) : path_(fs::absolute(path).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();
  if (path_.native().size() > abi::kMaxRunDirectoryLength) {
    throw RunDirectoryError(fmt::format(
        "run directory: {} is {} characters long; sockets in it allow {}: set {} to a shorter path",
        path_.string(), path_.native().size(), abi::kMaxRunDirectoryLength, abi::kRunDirectoryVariable));
  }
  make();
  lock();
  try {
    remove_contents(true);
    fs::create_directory(device_nodes());
    fs::permissions(device_nodes(), fs::perms::owner_all);
  } catch (const fs::filesystem_error& error) {
    throw RunDirectoryError(fmt::format("run directory: {}", error.what()));
  }
}

OwnedRunDirectory::~OwnedRunDirectory() {
  // Another device process may have made a directory of the same name after this one was removed.
  if (!is_pid_file_still_there()) return;
  try {
    remove_contents(!keep_log_);
    // The PID file last: a process that starts meanwhile finds it locked.
    fs::remove(path_ / abi::kPidFile);
    rmdir(path_.c_str());  // fails if the log stays
  } catch (const fs::filesystem_error&) {
    // The next start removes what is left.
  }
}

// Changes nothing before the owner of the directory is known.
void OwnedRunDirectory::make() const {
  memory::Descriptor directory;
  do {  // again if the process before is removing it
    const mode_t before = umask(077);
    std::error_code error;
    fs::create_directories(path_.parent_path(), error);
    if (!error) check_parent(path_);
    // Not create_directory, which calls it an error if the directory that is there goes while it looks.
    if (!error && mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
      error.assign(errno, std::generic_category());
    umask(before);
    if (error) {
      throw RunDirectoryError(fmt::format("run directory: {} cannot be made: {}: set {} to another path",
                                          path_.string(), error.message(), abi::kRunDirectoryVariable));
    }
    directory = open_directory(path_);
  } while (!directory);
  check_contents();
  if (fchmod(directory.get(), 0700) != 0) fail_with_errno(path_);
}

void OwnedRunDirectory::check_contents() const {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(path_, gone)) {
    const std::string name = entry.path().filename();
    if (is_ours(name)) continue;
    throw RunDirectoryError(
        fmt::format("run directory: {} holds '{}', which is not urnic's: set {} to an empty "
                    "or new directory",
                    path_.string(), name, abi::kRunDirectoryVariable));
  }
}

void OwnedRunDirectory::lock() {
  const fs::path file = path_ / abi::kPidFile;
  do {
    pid_file_ = memory::Descriptor(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!pid_file_ && errno == ENOENT) {  // the process before has removed the directory, too
      make();
      continue;
    }
    if (!pid_file_) {
      throw RunDirectoryError(fmt::format("run directory: {}: {}", file.string(), std::strerror(errno)));
    }
    if (!lock_in_time(pid_file_.get(), admin_socket())) {
      throw RunDirectoryInUse(
          fmt::format("run directory: a device process (pid {}) runs in {}: end it with "
                      "'urnic down', or give this one another directory",
                      read_pid(pid_file_.get()), path_.string()));
    }
    // The process before may have removed the file after it was opened here.
  } while (!is_pid_file_still_there());
  const std::string pid = fmt::format("{}\n", getpid());
  if (ftruncate(pid_file_.get(), 0) != 0 || pwrite(pid_file_.get(), pid.data(), pid.size(), 0) < 0) {
    throw RunDirectoryError(fmt::format("run directory: {}: {}", file.string(), std::strerror(errno)));
  }
}

bool OwnedRunDirectory::is_pid_file_still_there() const {
  struct stat open_file {};
  struct stat named_file {};
  return fstat(pid_file_.get(), &open_file) == 0 &&
         lstat((path_ / abi::kPidFile).c_str(), &named_file) == 0 && open_file.st_ino == named_file.st_ino &&
         open_file.st_dev == named_file.st_dev;
}

// Only while the PID file is locked.
void OwnedRunDirectory::remove_contents(bool log_too) const {
  fs::remove(admin_socket());
  fs::remove(netlink_socket());
  fs::remove_all(device_nodes());
  fs::remove_all(sysfs());
  if (!log_too) return;
  fs::remove(log_file());
  fs::remove(path_ / kOlderLog);
  fs::remove_all(opensm());
}

fs::path OwnedRunDirectory::log_file() const { return path_ / abi::kLogFile; }
fs::path OwnedRunDirectory::admin_socket() const { return path_ / abi::kAdminSocket; }
fs::path OwnedRunDirectory::device_nodes() const { return path_ / abi::kDeviceNodes; }
fs::path OwnedRunDirectory::netlink_socket() const { return path_ / abi::kNetlinkSocket; }
fs::path OwnedRunDirectory::sysfs() const { return path_ / abi::kSysfs; }
fs::path OwnedRunDirectory::opensm() const { return path_ / abi::kOpensmFolder; }

}  // namespace urnic::control
