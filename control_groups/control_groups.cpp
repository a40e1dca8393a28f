#include "control_groups/control_groups.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace urnic::control_groups {
namespace {

namespace fs = std::filesystem;

// Limits of version 1 that mean none are close to 2^63, rounded to pages (mm/page_counter.c).
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

// What `read` makes of a file; empty if it cannot be read. Streams would take a lack of memory for the end of
// the file.
template <typename Read>
auto of_file(const fs::path& file, Read read) -> decltype(read(std::declval<std::ifstream&>())) {
  try {
    std::ifstream stream(file, std::ios::binary);
    stream.exceptions(std::ios::badbit);
    return read(stream);
  } catch (const std::ios::failure&) {
    return {};
  }
}

std::string contents(const fs::path& file) {
  return of_file(
      file, [](std::istream& stream) { return std::string(std::istreambuf_iterator<char>(stream), {}); });
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// A number that stands alone in its file. "max" is none.
template <typename Number>
std::optional<Number> number_in(const fs::path& file) {
  return of_file(file, [](std::istream& stream) {
    Number value{};
    return stream >> value ? std::optional(value) : std::nullopt;
  });
}

// Of a file of lines "key number".
std::optional<std::uint64_t> value_in(const fs::path& file, std::string_view key) {
  return of_file(file, [key](std::istream& lines) -> std::optional<std::uint64_t> {
    std::string word;
    std::uint64_t value = 0;
    while (lines >> word >> value) {
      if (word == key) return value;
    }
    return std::nullopt;
  });
}

void lower(std::optional<std::uint64_t>& least, const std::optional<std::uint64_t>& limit) {
  if (limit && *limit < kNoLimit) least = std::min(least.value_or(kNoLimit), *limit);
}

// `quota` microseconds of processor time in each `period`. A quota below 0 is none.
void lower(std::optional<double>& least, const std::optional<double>& quota,
           const std::optional<double>& period) {
  if (!quota || !period || *quota < 0 || *period <= 0) return;
  const double processors = *quota / *period;
  least = std::min(least.value_or(processors), processors);
}

// proc(5): the kernel writes spaces and the like in names, and the backslash, as a backslash and three octal
// digits.
std::string unescaped(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string digits = name[i] == '\\' ? name.substr(i + 1, 3) : "";
    const bool escaped = digits.size() == 3 && digits.find_first_not_of("01234567") == std::string::npos;
    text += escaped ? static_cast<char>(std::stoi(digits, nullptr, 8)) : name[i];
    if (escaped) i += digits.size();
  }
  return text;
}

struct Mount {
  std::string root;  // the group that the mount shows at its top
  std::string point;
};

// The mounts of a hierarchy; see "mountinfo" in proc(5).
std::vector<Mount> mounts_of(const fs::path& list, unsigned version, std::string_view controller) {
  std::vector<Mount> found;
  for (const std::string& line : split(contents(list), '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    const auto end = std::find(words.begin(), words.end(), "-");
    if (end - words.begin() < 6 || words.end() - end < 4) continue;
    const bool fits =
        version == 2 ? end[1] == "cgroup2" : end[1] == "cgroup" && contains(split(end[3], ','), controller);
    if (fits) found.push_back({unescaped(words[3]), unescaped(words[4])});
  }
  return found;
}

// The part of the group's name below `root`; empty if the group is not in there. A name that begins with ".."
// is of a group outside of the process's cgroup namespace, which no mount of it shows.
std::optional<std::string> below(const std::string& root, const std::string& group) {
  if (group.rfind("/..", 0) == 0) return std::nullopt;
  if (root == "/") return group.substr(1);
  if (group == root) return "";
  if (group.rfind(root + "/", 0) != 0) return std::nullopt;
  return group.substr(root.size() + 1);
}

}  // namespace

// The mounts are looked up again when the process is in another group.
void ControlGroups::look() {
  std::string groups = contents(files_.groups);
  if (groups == groups_) return;
  Folders memory1 = folders_of(groups, 1, "memory");
  Folders processor1 = folders_of(groups, 1, "cpu");
  all2_ = folders_of(groups, 2, "");
  memory1_ = std::move(memory1);
  processor1_ = std::move(processor1);
  groups_ = std::move(groups);
}

// If no mount shows the group, then the top of a mount is what the container's maker has shown as its group.
ControlGroups::Folders ControlGroups::folders_of(const std::string& groups, unsigned version,
                                                 std::string_view controller) const {
  std::string group;
  for (const std::string& line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool fits = version == 2 ? controllers.empty() : contains(split(controllers, ','), controller);
    if (fits) group = line.substr(second + 1);
  }
  if (group.empty()) return {};
  const std::vector<Mount> mounts = mounts_of(files_.mounts, version, controller);
  for (const Mount& mount : mounts) {
    const auto name = below(mount.root, group);
    std::error_code ignored;
    const fs::path top = mount.point;
    if (!name || !fs::is_directory(top / *name, ignored)) continue;
    Folders folders;
    fs::path folder = name->empty() ? top : top / *name;
    for (; folder != top; folder = folder.parent_path()) folders.push_back(folder);
    folders.push_back(top);
    return folders;
  }
  return mounts.empty() ? Folders{} : Folders{mounts.front().point};
}

std::optional<std::uint64_t> ControlGroups::memory_limit() {
  look();
  std::optional<std::uint64_t> least;
  // The kernel's own sum over the groups around it, those that are not mounted too. For version 2 it has
  // none.
  if (!memory1_.empty())
    lower(least, value_in(memory1_.front() / "memory.stat", "hierarchical_memory_limit"));
  for (const fs::path& folder : memory1_)
    lower(least, number_in<std::uint64_t>(folder / "memory.limit_in_bytes"));
  for (const fs::path& folder : all2_) {
    lower(least, number_in<std::uint64_t>(folder / "memory.max"));
    lower(least, number_in<std::uint64_t>(folder / "memory.high"));
  }
  return least;
}

std::optional<double> ControlGroups::processor_limit() {
  look();
  std::optional<double> least;
  for (const fs::path& folder : processor1_)
    lower(least, number_in<double>(folder / "cpu.cfs_quota_us"),
          number_in<double>(folder / "cpu.cfs_period_us"));
  for (const fs::path& folder : all2_) {
    const auto limit = of_file(folder / "cpu.max", [](std::istream& stream) {
      std::array<double, 2> quota_and_period{-1, 0};
      stream >> quota_and_period[0] >> quota_and_period[1];
      return stream ? quota_and_period : std::array<double, 2>{-1, 0};
    });
    lower(least, limit[0], limit[1]);
  }
  return least;
}

// Version 2 counts in the group of the process that was ended and in those around it; version 1 in its group.
std::uint64_t ControlGroups::memory_kills() {
  look();
  std::uint64_t kills = 0;
  if (!memory1_.empty()) kills += value_in(memory1_.front() / "memory.oom_control", "oom_kill").value_or(0);
  if (!all2_.empty()) kills += value_in(all2_.front() / "memory.events", "oom_kill").value_or(0);
  return kills;
}

}  // namespace urnic::control_groups
