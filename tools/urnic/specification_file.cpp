#include "tools/urnic/specification_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "device_model/memory/descriptor.hpp"
#include "tools/urnic/container_devices.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kForEverybodyToRead = 0644;  // rootless runtimes read root's files

[[noreturn]] void fail(const fs::path& file, int error) {
  const char* const remedy =
      geteuid() == 0
          ? "choose another folder by --directory"
          : "choose a folder of your own by --directory, or let root write it: 'urnic cdi | sudo tee FILE'";
  throw Failure(fmt::format("{} cannot be written: {}: {}", file.string(), std::strerror(error), remedy));
}

// As root's umask may be narrow, others might not reach the file.
void make_directory(const fs::path& directory, const fs::path& file) {
  if (fs::exists(directory)) return;
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) fail(file, error.value());
  constexpr auto kPassable = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                             fs::perms::others_read | fs::perms::others_exec;
  fs::permissions(directory, kPassable, error);
}

bool write_all(int descriptor, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace

fs::path default_specification_directory() {
  if (geteuid() == 0) return "/var/run/cdi";
  for (const auto& [variable, below] :
       {std::pair{"XDG_CONFIG_HOME", "cdi"}, std::pair{"HOME", ".config/cdi"}}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && *value == '/') return fs::path(value) / below;
  }
  throw Failure("HOME is not set: say by --directory where the specification is to be");
}

fs::path specification_file(const fs::path& directory, const std::string& device_class) {
  return directory / fmt::format("{}-{}.json", kContainerVendor, device_class);
}

void write_specification(const fs::path& file, const std::string& text) {
  make_directory(file.parent_path(), file);
  // Readers take files that end in .json, so they pass this one over.
  std::string fresh = file.string() + ".XXXXXX";
  const memory::Descriptor descriptor(mkostemp(fresh.data(), O_CLOEXEC));
  if (!descriptor) fail(file, errno);
  if (write_all(descriptor.get(), text) && fchmod(descriptor.get(), kForEverybodyToRead) == 0 &&
      fsync(descriptor.get()) == 0 && std::rename(fresh.c_str(), file.c_str()) == 0)
    return;
  const int error = errno;
  unlink(fresh.c_str());
  fail(file, error);
}

bool remove_specification(const fs::path& file) {
  if (unlink(file.c_str()) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw Failure(
      fmt::format("{} cannot be removed: {}: let its owner do it", file.string(), std::strerror(errno)));
}

}  // namespace urnic::cli
