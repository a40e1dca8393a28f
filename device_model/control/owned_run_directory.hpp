// The run directory: created, owned, locked while this process lives, and removed.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// One line for the user who started the process.
class RunDirectoryError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A device process runs there, and answers.
class RunDirectoryInUse : public RunDirectoryError {
 public:
  using RunDirectoryError::RunDirectoryError;
};

class OwnedRunDirectory {
 public:
  // Creates the directory (mode 0700, and its parents) or takes over that of a dead process, after removing
  // its contents. Throws RunDirectoryInUse if another process uses it, RunDirectoryError if another user owns
  // it, it has foreign files in it, or its path is too long for the sockets.
  explicit OwnedRunDirectory(const std::filesystem::path& path);
  // Removes all contents and the directory; after `keep_log` the log stays.
  ~OwnedRunDirectory();
  OwnedRunDirectory(const OwnedRunDirectory&) = delete;
  OwnedRunDirectory& operator=(const OwnedRunDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }  // absolute
  std::filesystem::path log_file() const;
  std::filesystem::path admin_socket() const;
  std::filesystem::path netlink_socket() const;
  std::filesystem::path device_nodes() const;  // a directory, already there
  std::filesystem::path sysfs() const;         // not there yet
  std::filesystem::path opensm() const;        // a directory, not there yet; it stays with the log

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
