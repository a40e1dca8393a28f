// Debian's own programs with the stand-in preloaded.
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/unit/kernel/fake_run_directory.hpp"
#include "tests/unit/kernel/preloaded_program.hpp"

namespace {

using namespace urnic::kernel::test;

struct Command {
  const char* line;
  const char* output;
};
std::ostream& operator<<(std::ostream& stream, const Command& command) { return stream << command.line; }

const Command kCommands[] = {
    {"ls /sys/class/infiniband", "urnic0\nurnic1\n"},
    {"ls /dev/infiniband/", "uverbs0\nuverbs1\n"},
    {"ls -l /dev/infiniband | grep -c '^crw-rw-rw- .* 231, 19[23] .* uverbs[01]$'", "2\n"},
    {"ls -l /sys/class/infiniband/urnic0/node_guid 2>&1 | cut -c1", "-\n"},
    {"ls -l /sys/class/infiniband/urnic1 | sed 's/.* -> //'", "../../devices/virtual/infiniband/urnic1\n"},
    {"ls -d /sys/class/infiniband/*", "/sys/class/infiniband/urnic0\n/sys/class/infiniband/urnic1\n"},
    {"stat -c '%F %t:%T %a %n' /dev/infiniband/uverbs0",
     "character special file e7:c0 666 /dev/infiniband/uverbs0\n"},
    {"cat /sys/class/infiniband/urnic1/node_guid /sys/class/infiniband_verbs/uverbs0/dev",
     "0200:00ff:fe00:0001\n231:192\n"},
    {"cat /sys/class/infiniband/none", "cat: /sys/class/infiniband/none: No such file or directory\n"},
    {"grep -r ACTIVE /sys/class/infiniband/urnic0", "/sys/class/infiniband/urnic0/ports/1/state:4: ACTIVE\n"},
    {"readlink -f /sys/class/infiniband/urnic1/ports/..", "/sys/devices/virtual/infiniband/urnic1\n"},
    {"realpath /sys/class/infiniband/urnic0", "/sys/class/infiniband/urnic0\n"},
    {"cd /sys/class/infiniband/urnic0 && pwd && /bin/pwd -P && cat node_type",
     "/sys/class/infiniband/urnic0\n/sys/class/infiniband/urnic0\n1: CA\n"},
    {"cd /dev && stat -c %F infiniband/uverbs0", "character special file\n"},
    {"find /sys/class/infiniband/urnic0 -name state", "/sys/class/infiniband/urnic0/ports/1/state\n"},
    {"find /dev/infiniband -type c | sort", "/dev/infiniband/uverbs0\n/dev/infiniband/uverbs1\n"},
    {"find -L /sys/class/infiniband -name node_guid | sort",
     "/sys/class/infiniband/urnic0/node_guid\n/sys/class/infiniband/urnic1/node_guid\n"},
    {"test -c /dev/infiniband/uverbs0 && test -r /dev/infiniband/uverbs0 && test -w /dev/infiniband/uverbs0 "
     "&& ! test -x /dev/infiniband/uverbs0 && echo yes",
     "yes\n"},
    {"bash -c 'test -e /sys/class/infiniband/urnic0 && [[ -c /dev/infiniband/uverbs0 && ! -e "
     "/sys/class/infiniband/x ]] && echo yes'",
     "yes\n"},
    {"bash -c 'for d in /sys/class/infiniband/*; do echo $(<$d/node_guid); done'",
     "0200:00ff:fe00:0000\n0200:00ff:fe00:0001\n"},
    {"bash -c 'cd /sys/class; cat infiniband/urnic0/node_type'", "1: CA\n"},
    {"ls /sys/bus/pci/devices", "0000:00:00.0\n7572:00:00.0\n7572:00:01.0\n"},
    {"cat /sys/bus/pci/devices/7572:00:01.0/vendor /sys/bus/pci/devices/0000:00:00.0/vendor",
     "0x15b3\n0x8086\n"},
    {"realpath /sys/bus/pci/devices/7572:00:01.0", "/sys/devices/pci7572:00/7572:00:01.0\n"},
    {"readlink /sys/bus/pci/devices/0000:00:00.0", "../../../devices/pci0000:00/0000:00:00.0\n"},
    {"cd /sys/bus && cat pci/devices/7572:00:01.0/vendor", "0x15b3\n"},
    {"cd /sys && cat devices/pci7572:00/7572:00:01.0/vendor module/mlx5_core/initstate", "0x15b3\nlive\n"},
    {"cd /sys/module && cat mlx5_core/initstate", "live\n"},
    {"cat /sys/class/net/mlx5_0/device/vendor; cd /sys/class && cat net/mlx5_0/device/vendor",
     "0x15b3\n0x15b3\n"},
    {"cd /sys/class/net && cat mlx5_0/device/vendor && test -e lo/ifindex && echo yes", "0x15b3\nyes\n"},
    {"readlink /sys/devices/virtual/net/mlx5_0/device /sys/class/net/mlx5_0/device",
     "../../../pci7572:00/7572:00:00.0\n../../../pci7572:00/7572:00:00.0\n"},
    {"ls -d /sys/bus/pci/devices/7572:*/infiniband/*",
     "/sys/bus/pci/devices/7572:00:00.0/infiniband/urnic0\n"
     "/sys/bus/pci/devices/7572:00:01.0/infiniband/urnic1\n"},
    // Only GIDs' types cannot be read when they are empty.
    {"cat /sys/bus/pci/devices/7572:00:01.0/empty && echo yes", "yes\n"},
    {"dd if=/dev/zero bs=1k count=64 2>/dev/null | wc -c", "65536\n"},
};

BOOST_AUTO_TEST_SUITE(programs)

BOOST_DATA_TEST_CASE(shell_commands, boost::unit_test::data::make(kCommands), command) {
  const FakeRunDirectory run;
  BOOST_TEST(run_preloaded(run.path(), command.line).output == command.output);
}

BOOST_AUTO_TEST_CASE(writing_into_sysfs_makes_and_cuts_no_files) {
  const FakeRunDirectory run;
  BOOST_TEST(run_preloaded(run.path(), "echo x > /sys/class/infiniband/new").status != 0);
  BOOST_TEST(run_preloaded(run.path(), ": > /sys/class/infiniband/urnic0/node_guid").status == 0);
  BOOST_TEST(
      run_preloaded(run.path(), "ls /sys/class/infiniband; cat /sys/class/infiniband/*/node_guid").output ==
      "urnic0\nurnic1\n0200:00ff:fe00:0000\n0200:00ff:fe00:0001\n");
}

BOOST_AUTO_TEST_CASE(python) {
  const FakeRunDirectory run;
  BOOST_TEST(run_preloaded(run.path(), "/usr/bin/python3 " URNIC_PROBE_SOURCES "/probe.py").output ==
             "all well\n");
}

// URNIC_SHOW_0 and so on: every way to list a directory leaves the other devices out, and only those.
BOOST_AUTO_TEST_CASE(listings_leave_out_devices_that_are_not_to_be_seen) {
  const FakeRunDirectory run;
  const std::string list = "ls /sys/class/infiniband /sys/class/infiniband_verbs /dev/infiniband";
  const auto listed = [&](const std::string& variables, const std::string& command) {
    return run_preloaded(run.path(), "env " + variables + " " + command).output;
  };
  const std::string all = listed("", list);
  const std::string second = listed("URNIC_SHOW_0=urnic1", list);
  for (const char* word : {"urnic0", "uverbs0"}) {
    BOOST_TEST(all.find(word) != std::string::npos, all);
    BOOST_TEST(second.find(word) == std::string::npos, second);
  }
  for (const char* word : {"urnic1", "uverbs1", "abi_version"})
    BOOST_TEST(second.find(word) != std::string::npos, second);
  BOOST_TEST(listed("URNIC_SHOW_7=urnic1 URNIC_SHOW_3=urnic0", list) == all);
  BOOST_TEST(listed("URNIC_SHOW=all URNIC_SHOW_0=urnic1", list) == all);
  for (const char* folder : {"/sys/bus/pci/devices", "/sys/devices/pci7572:00"}) {
    const std::string shown = listed("URNIC_SHOW_0=urnic1", std::string("ls ") + folder);
    BOOST_TEST(shown.find("7572:00:00.0") == std::string::npos, shown);
    BOOST_TEST(shown.find("7572:00:01.0") != std::string::npos, shown);
  }
  BOOST_TEST(listed("URNIC_SHOW_0=urnic1", "ls /sys/bus/pci/devices").starts_with("0000:00:00.0\n"));
  // Not one of the variables.
  BOOST_TEST(listed("URNIC_SHOWN=urnic1", list) == all);
  BOOST_TEST(listed("URNIC_SHOW_0=urnic7", "ls /sys/class/infiniband") == "");
  // What is left out can be opened by its name.
  BOOST_TEST(listed("URNIC_SHOW_0=urnic1", "cat /sys/class/infiniband/urnic0/node_guid") ==
             "0200:00ff:fe00:0000\n");
  // A folder elsewhere with the same names in it.
  BOOST_TEST(listed("URNIC_SHOW_0=urnic1",
                    "sh -c 'cd " + run.path() + " && mkdir -p else/urnic0 && ls else'") == "urnic0\n");
}

BOOST_AUTO_TEST_CASE(glob_and_scandir_leave_them_out) {
  const FakeRunDirectory run;
  const char* const script =
      "import ctypes, os\n"
      "libc = ctypes.CDLL(None)\n"
      "class Matches(ctypes.Structure):\n"
      "    _fields_ = [('count', ctypes.c_size_t), ('paths', ctypes.POINTER(ctypes.c_char_p)), ('rest', "
      "ctypes.c_char * 64)]\n"
      "found = Matches()\n"
      "libc.glob(b'/sys/class/infiniband/*', 0, None, ctypes.byref(found))\n"
      "print([found.paths[i].decode() for i in range(found.count)])\n"
      "libc.glob(b'/sys/bus/pci/devices/*/vendor', 0, None, ctypes.byref(found))\n"
      "print([found.paths[i].decode()[21:28] for i in range(found.count)])\n"
      "entries = ctypes.POINTER(ctypes.c_void_p)()\n"
      "print(libc.scandir(b'/sys/class/infiniband', ctypes.byref(entries), None, None))\n"
      "folder = os.open('/sys/class', os.O_RDONLY)\n"
      "print(libc.scandirat(folder, b'infiniband', ctypes.byref(entries), None, None))\n"
      "libc.clearenv()\n"
      "print(os.listdir('/sys/class/infiniband'))\n";
  const std::string program = "/usr/bin/python3 -c \"" + std::string(script) + "\"";
  // scandir counts "." and "..", too.
  BOOST_TEST(run_preloaded(run.path(), "URNIC_SHOW_0=urnic1 " + program).output ==
             "['/sys/class/infiniband/urnic1']\n['0000:00', '7572:00']\n3\n3\n['urnic1']\n");
  BOOST_TEST(
      run_preloaded(run.path(), program).output ==
      "['/sys/class/infiniband/urnic0', '/sys/class/infiniband/urnic1']\n['0000:00', '7572:00', '7572:00']\n"
      "4\n4\n['urnic0', 'urnic1']\n");
}

// Without a provider, libibverbs finds both devices in sysfs, and no driver for them.
BOOST_AUTO_TEST_CASE(libibverbs_finds_the_devices) {
  const FakeRunDirectory run;
  const std::string output = run_preloaded(run.path(), "IBV_SHOW_WARNINGS=1 ibv_devices").output;
  for (const char* device : {"urnic0", "urnic1"})
    BOOST_TEST(output.find(std::string("no userspace device-specific driver found for ") + device) !=
                   std::string::npos,
               output);
  BOOST_TEST(run_shell("", "IBV_SHOW_WARNINGS=1 ibv_devices").output.find("urnic") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_long_pipeline_of_shells) {
  const FakeRunDirectory run;
  const char* command =
      "for i in 1 2 3 4 5 6 7 8 9 10; do bash -c 'cat <(cat /sys/class/infiniband/urnic0/node_type) | tr -d "
      "1'; "
      "done | sort | uniq -c | tr -s ' '";
  BOOST_TEST(run_preloaded(run.path(), command).output == " 10 : CA\n");
}

#ifdef URNIC_GO
BOOST_AUTO_TEST_CASE(a_go_program_that_calls_libc) {
  const FakeRunDirectory run;
  const std::string program = run.path() + "/probe";
  const std::string build = URNIC_GO " build -o " + program + " " URNIC_PROBE_SOURCES "/probe.go";
  const Outcome built = run_shell("CGO_ENABLED=1 GOCACHE=" + run.path() + "/cache", build);
  BOOST_REQUIRE_MESSAGE(built.status == 0, built.output);
  BOOST_TEST(run_preloaded(run.path(), program).output == "0 bad, 1: CA\n");
}
#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
