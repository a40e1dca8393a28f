// A file whose pages come when one likes, or never: of a file system that a child process serves by FUSE, in
// a mount namespace (and, without root, a user namespace) of its own. Any user can make such a file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace urnic::apps {

class SilentFile {
 public:
  static constexpr std::size_t kBytes = 1 << 20;

  // Enters the namespaces, which a process with one thread only can, and mounts. Throws std::runtime_error,
  // also where the machine does not let it.
  SilentFile();
  ~SilentFile();
  SilentFile(const SilentFile&) = delete;
  SilentFile& operator=(const SilentFile&) = delete;

  // Serves it; lives on when this process ends, until it is killed. SIGUSR1 has it answer from then on.
  pid_t server() const { return server_; }
  // All of the file, mapped for reading and writing. Nothing is touched.
  std::byte* map() const;
  // What the file has at `offset`.
  static std::byte byte_at(std::size_t offset) { return static_cast<std::byte>(offset * 11 + offset / 256); }

 private:
  std::string directory_;
  pid_t server_ = -1;
};

}  // namespace urnic::apps
