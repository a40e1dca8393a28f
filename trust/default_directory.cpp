#include "trust/default_directory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "device_model/abi/run_directory_layout.hpp"
#include "trust/directory.hpp"

namespace urnic::trust {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameCharacters = 6;  // as mkdtemp(3) makes them

bool is_own(const fs::path& path) {
  return check_run_directory(path.c_str()) == DirectoryFault::none && access(path.c_str(), W_OK) == 0;
}

std::optional<fs::path> runtime_directory() {
  const char* const given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && *given == '/') {
    fs::path path = fs::path(given).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    if (is_own(path)) return path;
  }
  fs::path path = fs::path("/run/user") / std::to_string(geteuid());
  if (is_own(path)) return path;
  if (geteuid() == 0 && is_own("/run")) return "/run";
  return std::nullopt;
}

// The first directory by name, so that all commands of a user find the same one.
std::optional<fs::path> find_in(const fs::path& folder, const std::string& prefix) {
  std::optional<fs::path> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(folder, gone)) {
    const std::string name = entry.path().filename();
    if (name.size() != prefix.size() + kNameCharacters || name.rfind(prefix, 0) != 0) continue;
    if ((!found || entry.path() < *found) && is_own(entry.path())) found = entry.path();
  }
  return found;
}

// Commands that find no directory at the same time try the same names in the same order, so one makes it, and
// the others find it. No lock: whatever they could lock here, another user could hold. Empty: other users
// have taken all names.
std::optional<fs::path> make_first_free(const fs::path& folder, const std::string& prefix) {
  for (const char* last : {"000000", "000001", "000002", "000003", "000004", "000005", "000006", "000007"}) {
    const fs::path path = folder / (prefix + last);
    if (mkdir(path.c_str(), 0700) == 0 || (errno == EEXIST && is_own(path))) return path;
  }
  return std::nullopt;
}

fs::path find_or_make_in(const fs::path& folder) {
  const std::string prefix = "urnic-" + std::to_string(geteuid()) + ".";
  if (auto found = find_in(folder, prefix)) return *found;
  if (auto made = make_first_free(folder, prefix)) return *made;
  std::string name = (folder / (prefix + std::string(kNameCharacters, 'X'))).string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(),
                            "no run directory can be made in " + folder.string() + " (set " +
                                abi::kRunDirectoryVariable + " to a path of your own)");
  }
  return name;
}

}  // namespace

fs::path default_run_directory(const std::string& name) {
  if (const auto runtime = runtime_directory()) return *runtime / "urnic" / name;
  return find_or_make_in("/tmp") / name;
}

fs::path chosen_run_directory() {
  const char* const given = std::getenv(abi::kRunDirectoryVariable);
  return given != nullptr && *given != '\0' ? fs::path(given) : default_run_directory("default");
}

}  // namespace urnic::trust
