// What this process's control groups allow (cgroups(7)): those of version 1 and of version 2, the group that
// it is in and each group around it, as far as a container sees them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace urnic::control_groups {

// Where Linux lists a process's groups and mounts.
struct ProcessFiles {
  std::filesystem::path groups = "/proc/self/cgroup";
  std::filesystem::path mounts = "/proc/self/mountinfo";
};

// What cannot be read is no limit. Each call sees the limits of now, also of a group into which the process
// was moved meanwhile. Not for several threads at once. Throws std::bad_alloc.
class ControlGroups {
 public:
  explicit ControlGroups(ProcessFiles files = {}) : files_(std::move(files)) {}

  // The smallest limit in bytes; empty if there is none.
  std::optional<std::uint64_t> memory_limit();
  // How many processors' time the group may use: 0.5 is half of one. Empty: no limit.
  std::optional<double> processor_limit();
  // How many processes of the group the system has ended because memory was short.
  std::uint64_t memory_kills();

 private:
  // The mounted folders of the group and of those around it, innermost first. Empty: there is no such
  // hierarchy.
  using Folders = std::vector<std::filesystem::path>;
  void look();
  Folders folders_of(const std::string& groups, unsigned version, std::string_view controller) const;

  ProcessFiles files_;
  std::string groups_;  // the contents of files_.groups that the folders are of
  Folders memory1_;     // version 1's hierarchy with the memory controller
  Folders processor1_;  // the one with the processor controller
  Folders all2_;        // version 2's, which is one for all controllers
};

}  // namespace urnic::control_groups
