// The run directory: made, owned, locked while this process lives, and cleaned up.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// One line for the person who started the process.
class RunDirectoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class OwnedRunDirectory {
 public:
  // Makes the directory (mode 0700, parents too) or takes over one that a dead process has left, removing
  // what that left. Throws RunDirectoryError if another process lives there, if it belongs to somebody else,
  // if there is something in it that is not ours, or if its name is too long for the sockets in it.
  explicit OwnedRunDirectory(const std::filesystem::path& path);
  // Removes everything, and the directory itself; the log stays if `keep_log` was called.
  ~OwnedRunDirectory();
  OwnedRunDirectory(const OwnedRunDirectory&) = delete;
  OwnedRunDirectory& operator=(const OwnedRunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }  // absolute
  std::filesystem::path log_file() const;
  std::filesystem::path admin_socket() const;
  std::filesystem::path device_nodes() const;  // a directory, made already
  std::filesystem::path sysfs() const;         // not made yet

  void keep_log() { keep_log_ = true; }

 private:
  void make() const;
  void check_contents() const;
  void lock();
  bool is_pid_file_still_there() const;
  void remove_contents(bool log_too) const;

  std::filesystem::path path_;
  memory::Descriptor pid_file_;
  bool keep_log_ = false;
};

}  // namespace urnic::control
