// What control groups allow, as Linux shows them to a process: of both versions, nested, in containers.
#include "control_groups/control_groups.hpp"

#include <boost/test/unit_test.hpp>
#include <ostream>

#include "tests/unit/control/temporary_directory.hpp"

namespace urnic::control::test {
namespace {

namespace fs = std::filesystem;

struct File {
  const char* name;  // below the folder of the hierarchies
  const char* contents;
};

// What a process reads, and what follows. "@" in mounts is the folder of the hierarchies.
struct Case {
  const char* what;
  const char* groups;
  const char* mounts;
  std::vector<File> files;
  std::optional<std::uint64_t> memory;
  std::optional<double> processors;
  std::uint64_t kills = 0;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.what; }

constexpr const char* kVersion2 = "31 23 0:28 / @ rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
constexpr const char* kVersion1 =
    "23 1 8:1 / / rw - ext4 /dev/vda rw\n"
    "31 23 0:28 / @ rw - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / @/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / @/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / @/unified rw,relatime - cgroup2 cgroup2 rw\n";

const std::vector<Case> kCases{
    {"no control groups", "", "23 1 8:1 / / rw - ext4 /dev/vda rw\n", {}, {}, {}},
    {"version 2, no limit",
     "0::/a\n",
     kVersion2,
     {{"a/memory.max", "max\n"}, {"a/cpu.max", "max 100000\n"}},
     {},
     {}},
    {"version 2, the group's own",
     "0::/a\n",
     kVersion2,
     {{"a/memory.max", "1000\n"},
      {"a/cpu.max", "50000 100000\n"},
      {"a/memory.events", "low 0\noom 4\noom_kill 3\n"}},
     1000,
     0.5,
     3},
    {"version 2, of a group around it",
     "0::/a/b/c\n",
     kVersion2,
     {{"a/memory.max", "1000\n"},
      {"a/b/memory.max", "5000\n"},
      {"a/b/c/memory.max", "max\n"},
      {"a/cpu.max", "300000 100000\n"},
      {"a/b/cpu.max", "150000 100000\n"}},
     1000,
     1.5},
    {"version 2, a limit that slows",
     "0::/a\n",
     kVersion2,
     {{"a/memory.max", "9000\n"}, {"a/memory.high", "700\n"}},
     700,
     {}},
    {"version 2, another group's", "0::/a\n", kVersion2, {{"a/x", ""}, {"ab/memory.max", "5\n"}}, {}, {}},
    {"version 1, the group's own",
     "9:name=systemd:/other\n4:memory:/a\n1:cpu,cpuacct:/c\n0::/\n",
     kVersion1,
     {{"memory/a/memory.limit_in_bytes", "4096\n"},
      {"memory/a/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
      {"cpu,cpuacct/c/cpu.cfs_quota_us", "25000\n"},
      {"cpu,cpuacct/c/cpu.cfs_period_us", "100000\n"}},
     4096,
     0.25,
     2},
    {"version 1, of a group around it",
     "4:memory:/a/b\n1:cpu,cpuacct:/c/d\n",
     kVersion1,
     {{"memory/memory.limit_in_bytes", "9223372036854771712\n"},
      {"memory/a/memory.limit_in_bytes", "1073741824\n"},
      {"memory/a/b/memory.limit_in_bytes", "9223372036854771712\n"},
      {"cpu,cpuacct/c/cpu.cfs_quota_us", "25000\n"},
      {"cpu,cpuacct/c/cpu.cfs_period_us", "50000\n"},
      {"cpu,cpuacct/c/d/cpu.cfs_quota_us", "-1\n"},
      {"cpu,cpuacct/c/d/cpu.cfs_period_us", "100000\n"}},
     1073741824,
     0.5},
    {"version 1, of a group that is not mounted here",
     "4:memory:/box/a\n",
     "35 31 0:32 /box @/memory rw - cgroup cgroup rw,memory\n",
     {{"memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
      {"memory/a/memory.stat", "cache 0\nhierarchical_memory_limit 8192\nhierarchical_memsw_limit 9\n"}},
     8192,
     {}},
    {"version 1, no limit",
     "4:memory:/a\n1:cpu,cpuacct:/\n",
     kVersion1,
     {{"memory/a/memory.limit_in_bytes", "9223372036854771712\n"},
      {"memory/a/memory.stat", "hierarchical_memory_limit 9223372036854771712\n"}},
     {},
     {}},
    {"a container that sees its group as the top", "0::/\n", kVersion2, {{"memory.max", "77\n"}}, 77, {}},
    {"a container that sees the host's names",
     "4:memory:/docker/box/a\n",
     "35 31 0:32 /docker/box @/memory ro - cgroup cgroup rw,memory\n",
     {{"memory/memory.limit_in_bytes", "900\n"}, {"memory/a/memory.limit_in_bytes", "5000\n"}},
     900,
     {}},
    {"a container whose names and mounts do not fit together",
     "4:memory:/kubepods/pod/box\n",
     "35 31 0:32 /docker/box @/memory ro - cgroup cgroup rw,memory\n",
     {{"memory/memory.limit_in_bytes", "900\n"}},
     900,
     {}},
    {"a group outside of the namespace",
     "0::/../other\n",
     kVersion2,
     {{"memory.max", "77\n"}, {"other/memory.max", "5\n"}},
     77,
     {}},
    {"a name with a space and a colon",
     "0::/a b:c\n",
     "31 23 0:28 / @/x\\040y rw - cgroup2 cgroup2 rw\n",
     {{"x y/a b:c/memory.max", "55\n"}},
     55,
     {}},
    {"lines that are cut off",
     "0::\n4:memory\n:\n\n",
     "31 23\n31 23 0:28 / @ rw -\n",
     {{"memory.max", "5\n"}},
     {},
     {}},
};

std::string with_folder(std::string text, const std::string& folder) {
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + folder.size()))
    text.replace(at, 1, folder);
  return text;
}

struct Groups {
  TemporaryDirectory directory;
  fs::path top = directory.path() / "cgroup";

  explicit Groups(const Case& one) {
    fs::create_directory(top);
    belong_to(one.groups);
    std::ofstream(directory.path() / "mounts") << with_folder(one.mounts, top.string());
    for (const File& file : one.files) write(file);
  }
  void belong_to(const char* groups) const { std::ofstream(directory.path() / "groups") << groups; }
  void write(const File& file) const {
    fs::create_directories((top / file.name).parent_path());
    std::ofstream(top / file.name) << file.contents;
  }
  control_groups::ControlGroups seen() const {
    return control_groups::ControlGroups({directory.path() / "groups", directory.path() / "mounts"});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(control_groups_of_a_process)

BOOST_AUTO_TEST_CASE(the_smallest_limit_holds) {
  for (const Case& one : kCases) {
    BOOST_TEST_CONTEXT(one) {
      const Groups groups(one);
      control_groups::ControlGroups seen = groups.seen();
      BOOST_TEST((seen.memory_limit() == one.memory));
      BOOST_TEST((seen.processor_limit() == one.processors));
      BOOST_TEST(seen.memory_kills() == one.kills);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_limit_that_changes_is_seen) {
  const Groups groups(
      {"", "0::/a\n", kVersion2, {{"a/memory.max", "100\n"}, {"b/memory.max", "300\n"}}, {}, {}});
  control_groups::ControlGroups seen = groups.seen();
  BOOST_TEST(*seen.memory_limit() == 100u);
  groups.write({"a/memory.max", "200\n"});
  BOOST_TEST(*seen.memory_limit() == 200u);
  groups.write({"a/memory.max", "max\n"});
  BOOST_TEST(!seen.memory_limit());
  groups.belong_to("0::/b\n");  // it was moved
  BOOST_TEST(*seen.memory_limit() == 300u);
}

// Whatever this machine is: its own files are read without an error.
BOOST_AUTO_TEST_CASE(this_process_has_groups_or_none) {
  control_groups::ControlGroups own;
  BOOST_TEST(own.memory_limit().value_or(1) > 0u);
  BOOST_TEST(own.processor_limit().value_or(1) > 0.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::control::test
