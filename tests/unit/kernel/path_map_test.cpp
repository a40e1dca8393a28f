#include "provider/kernel/path_map.hpp"

#include <fcntl.h>
#include <stdlib.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>

#include "provider/kernel/device_number.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace {

using urnic::kernel::PathText;

// Runs before run_directory_lookup.cpp's own constructor, which reads the variable.
__attribute__((constructor(101))) void name_run_directory() { setenv("URNIC_DIR", "/run/fabric//", 1); }

struct Mapping {
  const char* program;
  const char* kernel;  // null: left alone
};
std::ostream& operator<<(std::ostream& stream, const Mapping& mapping) { return stream << mapping.program; }

const Mapping kMappings[] = {
    {"/sys/class/infiniband", "/run/fabric/sysfs/class/infiniband"},
    {"/sys/class/infiniband/", "/run/fabric/sysfs/class/infiniband/"},
    {"/sys/class/infiniband/urnic0/ports/1/state", "/run/fabric/sysfs/class/infiniband/urnic0/ports/1/state"},
    {"//sys/./class///infiniband//urnic0", "/run/fabric/sysfs/class/infiniband//urnic0"},
    {"/sys/class/net/../infiniband/urnic0", "/run/fabric/sysfs/class/infiniband/urnic0"},
    {"/sys/class/infiniband_verbs/uverbs0/dev", "/run/fabric/sysfs/class/infiniband_verbs/uverbs0/dev"},
    {"/sys/class/infiniband_cm/urnic0", "/run/fabric/sysfs/class/infiniband_cm/urnic0"},
    {"/sys/class/infiniband_mad/abi_version", "/run/fabric/sysfs/class/infiniband_mad/abi_version"},
    {"/sys/class/misc/rdma_cm/abi_version", "/run/fabric/sysfs/class/misc/rdma_cm/abi_version"},
    {"/sys/devices/virtual/infiniband/urnic0", "/run/fabric/sysfs/devices/virtual/infiniband/urnic0"},
    {"/sys/devices/pci7572:00/7572:00:00.0", "/run/fabric/sysfs/devices/pci7572:00/7572:00:00.0"},
    {"/dev/infiniband", "/run/fabric/dev"},
    {"/dev/infiniband/uverbs0", "/run/fabric/dev/uverbs0"},
    // Inside the tree the kernel resolves "..", because the component before it may be a symbolic link.
    {"/sys/class/infiniband/urnic0/device/../x", "/run/fabric/sysfs/class/infiniband/urnic0/device/../x"},
    {"/sys/class/infiniband/urnic0/..", "/run/fabric/sysfs/class/infiniband/urnic0/.."},
    // Out of the tree.
    {"/sys/class/infiniband/../net/lo", "/sys/class/net/lo"},
    {"/sys/class/infiniband/urnic0/../../net", "/sys/class/net"},
    {"/sys/class/infiniband/../../../..", "/"},
    {"/sys/class/infiniband/../infiniband_verbs/uverbs0", "/run/fabric/sysfs/class/infiniband_verbs/uverbs0"},
    // Not ours.
    // Only of a device process that has them.
    {"/sys/bus/pci/devices", nullptr},
    {"/sys/module/mlx5_core/initstate", nullptr},
    {"/sys/class/net/mlx5_0/device", nullptr},
    {"/sys/devices/pci0000:00/0000:00:00.0", nullptr},
    {"/sys/class/infiniband_other", nullptr},
    {"/sys/class/infinibandx/urnic0", nullptr},
    {"/sys/class/misc/rdma_cm2", nullptr},
    {"/sys/class/net/infiniband", nullptr},
    {"/sys/class", nullptr},
    {"/sys/class/infiniban", nullptr},
    {"/dev/infinibands/uverbs0", nullptr},
    {"/dev/char/x", nullptr},
    {"/home/me/sys/class/infiniband", nullptr},
    {"/tmp/dev/infiniband", nullptr},
};

BOOST_AUTO_TEST_SUITE(path_map)

BOOST_DATA_TEST_CASE(paths_go_where_the_map_says, boost::unit_test::data::make(kMappings), mapping) {
  BOOST_REQUIRE(urnic::kernel::stand_in_active());
  const urnic::kernel::KernelPath path(AT_FDCWD, mapping.program);
  BOOST_TEST(path.is_mapped() == (mapping.kernel != nullptr));
  BOOST_TEST(std::string(path.get()) == (mapping.kernel != nullptr ? mapping.kernel : mapping.program));
}

BOOST_AUTO_TEST_CASE(a_null_or_empty_path_is_left_to_the_kernel) {
  BOOST_TEST(urnic::kernel::KernelPath(AT_FDCWD, nullptr).get() == nullptr);
  BOOST_TEST(std::string(urnic::kernel::KernelPath(AT_FDCWD, "").get()).empty());
}

BOOST_AUTO_TEST_CASE(a_path_that_is_too_long_is_left_alone) {
  const std::string path = "/sys/class/infiniband/" + std::string(2 * urnic::kernel::kPathCapacity, 'x');
  const urnic::kernel::KernelPath mapped(AT_FDCWD, path.c_str());
  BOOST_TEST(!mapped.is_mapped());
  BOOST_TEST(mapped.get() == path.c_str());
}

const Mapping kReverse[] = {
    {"/real/sysfs/class/infiniband/urnic0", "/sys/class/infiniband/urnic0"},
    {"/real/sysfs/devices/virtual/infiniband/urnic0", "/sys/devices/virtual/infiniband/urnic0"},
    {"/real/sysfs/devices/pci7572:00/7572:00:00.0", "/sys/devices/pci7572:00/7572:00:00.0"},
    {"/real/dev", "/dev/infiniband"},
    {"/real/dev/uverbs0", "/dev/infiniband/uverbs0"},
    {"/real/sysfs/class", nullptr},  // /sys/class is not mapped
    {"/real/sysfs/devices/pci", nullptr},
    {"/real/device", nullptr},
    {"/real", nullptr},
    {"/other/sysfs/class/infiniband", nullptr},
};

BOOST_DATA_TEST_CASE(only_paths_that_lead_back_are_shown, boost::unit_test::data::make(kReverse), mapping) {
  PathText shown;
  const bool found = urnic::kernel::find_program_path("/real", mapping.program, shown);
  BOOST_TEST(found == (mapping.kernel != nullptr));
  if (found) BOOST_TEST(std::string(shown.text()) == mapping.kernel);
}

BOOST_AUTO_TEST_CASE(node_names) {
  for (const char* name : {"uverbs0", "uverbs12", "umad0", "issm0", "rdma_cm"})
    BOOST_TEST(urnic::kernel::is_node_name(name));
  for (const char* name : {"uverbs", "uverbsx", "uverbs0x", "umad", "umad0x", "issm", "issm0x", "",
                           "rdma_cm0", "uverbs99999999999"})
    BOOST_TEST(!urnic::kernel::is_node_name(name));
}

BOOST_AUTO_TEST_CASE(device_numbers) {
  dev_t number = 0;
  BOOST_TEST(urnic::kernel::parse_device_number("231:192\n", number));
  BOOST_TEST(number == ((231U << 8) | 192U));
  for (const char* text : {"", ":", "231", "231:", ":1", "231:1x", "x231:1", "-1:2", "99999999999:1"})
    BOOST_TEST(!urnic::kernel::parse_device_number(text, number));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
